import { skill, skillWithText, type putSkill as newSkill, type Skill } from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

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
export function putSkill(
  client: ApiClient,
  body: z.infer<typeof newSkill>,
  idempotencyKey: string,
): Promise<Skill> {
  return client.send({ method: 'POST', path: '/skills', body, idempotencyKey, schema: skill });
}

export function switchSkill(client: ApiClient, name: string, isEnabled: boolean): Promise<Skill> {
  return client.send({ method: 'PATCH', path: pathOf(name), body: { isEnabled }, schema: skill });
}

export async function deleteSkill(client: ApiClient, name: string): Promise<void> {
  await client.send({ method: 'DELETE', path: pathOf(name), schema: z.unknown() });
}
