import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/app-error.ts';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let owner: (path: string, call?: Call) => Promise<Answer>;
const gone = new Set<string>();
beforeAll(async () => {
  bed = await createHttpTestbed();
  const { runs } = await bed.startServer();
  const server = await bed.startServer({
    runs: {
      ...runs,
      resolveAllowedPaths: async (paths) => {
        const missing = paths.find((path) => gone.has(path));
        if (missing === undefined) return paths;
        throw new AppError('path.not-allowed', `There is no ${missing}.`, { status: 422 });
      },
    },
  });
  owner = createClient(server.url, bed.owner.token);
});
afterAll(() => bed.close());

describe('the folders of a conversation', () => {
  it('can be changed while one that it has is gone, but that cannot be added anew', async () => {
    const made = await owner('/api/conversations', { json: { allowedPaths: ['/work/a', '/work/b'] } });
    gone.add('/work/a');
    const change = (allowedPaths: string[]) =>
      owner(`/api/conversations/${String(made.json['id'])}`, { method: 'PATCH', json: { allowedPaths } });
    expect(await change(['/work/a', '/work/b', '/work/c'])).toMatchObject({
      status: 200,
      json: { allowedPaths: ['/work/a', '/work/b', '/work/c'] },
    });
    expect((await change(['/work/c'])).json['allowedPaths']).toEqual(['/work/c']);
    expect(await change(['/work/c', '/work/a'])).toMatchObject({
      status: 422,
      json: { code: 'path.not-allowed' },
    });
  });
});
