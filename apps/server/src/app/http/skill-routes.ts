import { create as createDisposition } from 'content-disposition';
import { putSkill, skillList, skillName, skillWithText, updateSkill } from '@vitto/contracts';
import { z } from 'zod';
import { nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { Skills } from '../../extensions/index.ts';

/** A folder of the largest size, in base64 and with its paths. */
const BODY_LIMIT = 8 * 1024 * 1024;
const params = z.object({ name: skillName });
/** What is no name at all is said of the skill, not of the address. */
const putParams = z.object({ name: z.string().min(1).max(200) });

/** Skills: folders with a SKILL.md in the open Agent Skills format. */
export function addSkillRoutes(app: WebApp, skills: Skills): void {
  const tags = ['skills'];

  app.get(
    '/api/skills',
    {
      schema: { tags, summary: 'My skills, by name', response: { 200: skillList } },
    },
    async (request) => ({ items: await skills.list(viewerOf(request).userId) }),
  );

  app.get(
    '/api/skills/:name',
    {
      schema: {
        tags,
        summary: 'A skill with the text of its SKILL.md',
        params,
        response: { 200: skillWithText },
      },
    },
    (request) => skills.find(viewerOf(request).userId, request.params.name),
  );

  app.put(
    '/api/skills/:name',
    {
      bodyLimit: BODY_LIMIT,
      config: { audit: { action: 'skill.put', object: 'skill' } },
      schema: {
        tags,
        summary: 'Add a skill, or put a whole folder in place of what it held before',
        description: 'The name in the front matter of SKILL.md must be the one of the address.',
        params: putParams,
        body: putSkill,
        response: { 200: skillWithText },
      },
    },
    (request) => skills.put(viewerOf(request).userId, request.params.name, request.body),
  );

  app.patch(
    '/api/skills/:name',
    {
      config: {
        audit: {
          action: 'skill.changed',
          object: 'skill',
          detail: (_, answer) => ({ isEnabled: Boolean(answer['isEnabled']) }),
        },
      },
      schema: {
        tags,
        summary: 'Switch a skill on or off for the tasks that begin from now on',
        params,
        body: updateSkill,
        response: { 200: skillWithText },
      },
    },
    (request) => skills.enable(viewerOf(request).userId, request.params.name, request.body.isEnabled),
  );

  app.delete(
    '/api/skills/:name',
    {
      config: { audit: { action: 'skill.deleted', object: 'skill' } },
      schema: { tags, summary: 'Delete a skill with its files', params, response: { 204: nothing } },
    },
    async (request, reply) => {
      await skills.remove(viewerOf(request).userId, request.params.name);
      return reply.code(204).send(undefined);
    },
  );

  app.get(
    '/api/skills/:name/files',
    {
      schema: {
        tags,
        summary: 'The bytes of a file of a skill',
        params,
        querystring: z.object({ path: z.string().min(1).max(400) }),
      },
    },
    async (request, reply) => {
      const { path } = request.query;
      const content = await skills.readFile(viewerOf(request).userId, request.params.name, path);
      return reply
        .type('application/octet-stream')
        .header('content-disposition', createDisposition(path.split('/').at(-1) ?? 'file'))
        .header('content-security-policy', "default-src 'none'; sandbox")
        .send(content);
    },
  );
}
