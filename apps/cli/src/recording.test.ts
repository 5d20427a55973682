import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { beginRecording, readRecording } from './recording.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitto-recording-'));
  file = join(folder, 'run.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const call = (text: string) =>
  `${JSON.stringify({
    version: 1,
    request: {
      prompt: [
        { role: 'system', content: 'Be Vitto.' },
        { role: 'user', content: [{ type: 'text', text }] },
      ],
    },
  })}\n`;

test('a recording that began with its folders gives them, and what was asked', async () => {
  await beginRecording(file, ['/srv/project', '.']);
  await appendFile(file, call('count') + call('other'));
  expect(await readRecording(file)).toEqual({ prompt: 'count', folders: ['/srv/project', resolve('.')] });
});

test('a recording of its calls alone has no folders', async () => {
  await writeFile(file, call('count'));
  expect(await readRecording(file)).toEqual({ prompt: 'count', folders: [] });
});

test.each([
  '',
  'no json\n',
  '[]\n',
  'null\n',
  '{"kind":"about","allowedPaths":7}\n',
  '{"request":{"prompt":[null]}}\n',
])('a file that begins with %j says nothing', async (text) => {
  await writeFile(file, text);
  expect(await readRecording(file)).toEqual({ prompt: null, folders: [] });
});

test('a file that is there is not begun again, and one with calls is not removed', async () => {
  const giveUp = await beginRecording(file, ['/srv']);
  await expect(beginRecording(file, [])).rejects.toMatchObject({ code: 'cli.bad-file' });
  await appendFile(file, call('count'));
  await giveUp();
  expect(await readFile(file, 'utf8')).toContain('count');
});

test('a recording without any call is taken away again', async () => {
  const giveUp = await beginRecording(file, ['/srv']);
  await giveUp();
  await expect(readRecording(file)).rejects.toMatchObject({ code: 'cli.bad-file' });
});
