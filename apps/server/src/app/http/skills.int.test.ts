import type { Skill, SkillWithText } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Answer, type Call } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
let owner: (path: string, call?: Call) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
  owner = createClient(server.url, bed.owner.token);
});
afterAll(() => bed.close());

const textOf = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n# How\n`;
const put = (name: string, body: object) => owner(`/api/skills/${name}`, { method: 'PUT', json: body });
const base64 = (content: string | Buffer) => Buffer.from(content as string).toString('base64');

describe('skills', () => {
  it('are put in whole, looked at, and put in again in place of what was there', async () => {
    const text = textOf(
      'pdf-tools',
      'license: MIT\nallowed-tools: run_command\ncompatibility: Needs poppler\n',
    );
    const files = [
      { path: 'scripts/fill.py', content: base64('print(1)') },
      { path: 'form.bin', content: base64(Buffer.from([0, 255])) },
    ];
    const made = await put('pdf-tools', { text, files });
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({
      name: 'pdf-tools',
      description: 'Does pdf-tools.',
      license: 'MIT',
      compatibility: 'Needs poppler',
      allowedTools: ['run_command'],
      isEnabled: true,
      text,
      files: [
        { path: 'form.bin', bytes: 2 },
        { path: 'scripts/fill.py', bytes: 8 },
      ],
      bytes: Buffer.byteLength(text) + 10,
    } satisfies Partial<SkillWithText>);
    expect((await owner('/api/skills/pdf-tools')).json).toEqual(made.json);
    const file = await owner('/api/skills/pdf-tools/files?path=scripts/fill.py');
    expect(file.text).toBe('print(1)');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename=fill.py');
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');

    await owner('/api/skills/pdf-tools', { method: 'PATCH', json: { isEnabled: false } });
    const again = await put('pdf-tools', { text: textOf('pdf-tools') });
    expect(again.json).toMatchObject({
      files: [],
      license: null,
      isEnabled: false,
      createdAt: made.json['createdAt'],
    });
    expect((await owner('/api/skills/pdf-tools/files?path=form.bin')).status).toBe(404);
  });

  it('are listed by name, switched and deleted', async () => {
    await put('zeta', { text: textOf('zeta') });
    await put('alpha', { text: textOf('alpha') });
    const names = async () =>
      ((await owner('/api/skills')).json['items'] as Skill[]).map((skill) => skill.name);
    expect(await names()).toEqual(['alpha', 'pdf-tools', 'zeta']);
    expect(
      (await owner('/api/skills/zeta', { method: 'PATCH', json: { isEnabled: false } })).json['isEnabled'],
    ).toBe(false);
    expect((await owner('/api/skills/zeta', { method: 'DELETE' })).status).toBe(204);
    expect((await owner('/api/skills/zeta', { method: 'DELETE' })).status).toBe(404);
    expect(await names()).toEqual(['alpha', 'pdf-tools']);
  });

  it('are refused with the place of each fault, and leave what was there', async () => {
    for (const [name, body, code, path] of [
      ['alpha', { text: textOf('beta') }, 'skill.invalid', 'name'],
      ['Alpha', { text: textOf('Alpha') }, 'skill.invalid', 'name (SKILL.md:2)'],
      ['alpha', { text: 'no front matter' }, 'skill.invalid', 'SKILL.md:1'],
      [
        'alpha',
        { text: textOf('alpha'), files: [{ path: '../x', content: '' }] },
        'skill.invalid',
        'files.0.path',
      ],
      [
        'alpha',
        { text: textOf('alpha'), files: [{ path: 'a\\b', content: '' }] },
        'request.invalid',
        'files.0.path',
      ],
      [
        'alpha',
        { text: textOf('alpha'), files: [{ path: 'a\u0000', content: '' }] },
        'request.invalid',
        'files.0.path',
      ],
      [
        'alpha',
        { text: textOf('alpha'), files: [{ path: 'a', content: 'no base64!' }] },
        'request.invalid',
        'files.0.content',
      ],
    ] as const) {
      const answer = await put(name, body);
      expect(answer.status, JSON.stringify(body)).toBe(422);
      expect(answer.json, JSON.stringify(body)).toMatchObject({ code, errors: [{ path }] });
    }
    expect((await owner('/api/skills/alpha')).json).toMatchObject({ description: 'Does alpha.' });
  });

  it('may be 4 MB large, and no larger', async () => {
    const part = { content: base64(Buffer.alloc(512 * 1024, 'x')) };
    const files = Array.from({ length: 8 }, (_, index) => ({ path: `f${index}`, ...part }));
    expect((await put('large', { text: textOf('large'), files })).status).toBe(200);
    const more = [...files, { path: 'f8', content: base64('x') }];
    expect((await put('large', { text: textOf('large'), files: more })).json).toMatchObject({
      errors: [{ path: 'files' }],
    });
    const far = Array.from({ length: 20 }, (_, index) => ({ path: `f${index}`, ...part }));
    const tooFar = await put('large', { text: textOf('large'), files: far });
    expect(tooFar.status).toBe(413);
    expect(tooFar.json['title']).toBe('The request is larger than the 8 MiB of this address.');
    const plain = await owner('/api/conversations', { json: { title: 'x'.repeat(1_100_000) } });
    expect(plain.json['title']).toBe('The request is larger than the 1 MiB of this address.');
  });

  it("are nobody else's", async () => {
    const stranger = createClient(server.url, bed.stranger.token);
    expect((await stranger('/api/skills')).json['items']).toEqual([]);
    for (const call of [{}, { method: 'DELETE' }, { method: 'PATCH', json: { isEnabled: false } }]) {
      expect((await stranger('/api/skills/alpha', call)).status).toBe(404);
    }
    expect((await stranger('/api/skills/large/files?path=f0')).status).toBe(404);
    await stranger('/api/skills/alpha', {
      method: 'PUT',
      json: { text: textOf('alpha', 'license: theirs\n') },
    });
    expect((await owner('/api/skills/alpha')).json).toMatchObject({ license: null, isEnabled: true });
  });
});
