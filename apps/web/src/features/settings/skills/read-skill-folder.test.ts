import { expect, it } from 'vitest';
import { MAX_SKILL_FILES, readSkillFolder } from './read-skill-folder.ts';

const file = (path: string, content: string | Uint8Array<ArrayBuffer> = 'x') => ({
  path,
  file: new Blob([content]),
});

it('takes SKILL.md as text and the rest in base64, by their paths within the folder', async () => {
  const bytes = new Uint8Array(20_000).fill(255);
  const read = await readSkillFolder([
    file('review/scripts/a.py', 'print(1)'),
    file('review/SKILL.md', '---\nname: review\n---\nñ'),
    file('review/data.bin', bytes),
  ]);
  expect(read).toEqual({
    kind: 'folder',
    folder: {
      name: 'review',
      text: '---\nname: review\n---\nñ',
      files: [
        { path: 'scripts/a.py', content: btoa('print(1)') },
        { path: 'data.bin', content: Buffer.from(bytes).toString('base64') },
      ],
      hasIgnored: false,
    },
  });
});

it('leaves hidden files out and says so', async () => {
  const read = await readSkillFolder([file('a/SKILL.md'), file('a/.DS_Store'), file('a/.git/config')]);
  expect(read).toMatchObject({ kind: 'folder', folder: { files: [], hasIgnored: true } });
});

it('refuses a folder without SKILL.md at its top, and one with too many files', async () => {
  expect(await readSkillFolder([])).toEqual({ kind: 'refused', reason: 'no-skill-file' });
  expect(await readSkillFolder([file('all/one/SKILL.md')])).toMatchObject({ kind: 'refused' });
  const many = Array.from({ length: MAX_SKILL_FILES + 1 }, (_, at) => file(`a/${at}.md`));
  expect(await readSkillFolder([file('a/SKILL.md'), ...many])).toEqual({
    kind: 'refused',
    reason: 'too-many',
  });
});
