import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendToRegularFile, readRegularFile } from './read-regular-file.ts';

describe('reading and appending regular files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-files-'));
    await writeFile(join(folder, 'text'), 'héllo');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await symlink(join(folder, 'text'), join(folder, 'link'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('gives a whole text', async () => {
    expect(await readRegularFile(join(folder, 'text'), 100)).toBe('héllo');
  });

  it('refuses a pipe and a device at once, a folder, and what is too large', async () => {
    await expect(readRegularFile(join(folder, 'pipe'), 100)).rejects.toThrow(/no regular file/);
    await expect(readRegularFile('/dev/zero', 100)).rejects.toThrow(/no regular file/);
    await expect(readRegularFile(folder, 100)).rejects.toThrow(/no regular file/);
    await expect(readRegularFile(join(folder, 'text'), 3)).rejects.toThrow(/at most 3/);
  });

  it('appends privately and follows no link', async () => {
    const path = join(folder, 'new.jsonl');
    await appendToRegularFile(path, 'a\n');
    await appendToRegularFile(path, 'b\n');
    expect(await readFile(path, 'utf8')).toBe('a\nb\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(appendToRegularFile(join(folder, 'link'), 'x')).rejects.toThrow();
    expect(await readFile(join(folder, 'text'), 'utf8')).toBe('héllo');
  });
});
