import { skill, skillWithText, type putSkill as newSkill, type Skill } from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';
import { readName } from './front-matter.ts';

const skillList = z.object({ items: z.array(skill) });
export type SkillList = z.infer<typeof skillList>;

export function skillsQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['skills'],
    queryFn: () => client.send({ path: '/skills', schema: skillList }),
  });
}

const pathOf = (name: string) => `/skills/${encodeURIComponent(name)}`;

/** One skill with the text of its SKILL.md. */
export function skillQuery(client: ApiClient, name: string) {
  return queryOptions({
    queryKey: ['skills', name],
    queryFn: () => client.send({ path: pathOf(name), schema: skillWithText }),
  });
}

/** Adds a skill, or puts this in the place of the one of its name. */
export function putSkill(client: ApiClient, body: z.input<typeof newSkill>): Promise<Skill> {
  return client.send({ method: 'PUT', path: pathOf(readName(body.text)), body, schema: skill });
}

/** Where the bytes of a file of a skill are; the server gives them as a download. */
export function skillFileAddress(name: string, path: string): string {
  return `/api${pathOf(name)}/files?${new URLSearchParams({ path })}`;
}

export function switchSkill(client: ApiClient, name: string, isEnabled: boolean): Promise<Skill> {
  return client.send({ method: 'PATCH', path: pathOf(name), body: { isEnabled }, schema: skill });
}

export async function deleteSkill(client: ApiClient, name: string): Promise<void> {
  await client.send({ method: 'DELETE', path: pathOf(name), schema: z.unknown() });
}
