import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const OPEN = `
  const { openVault } = await import(process.argv[1]);
  const vault = await openVault({ home: process.argv[2], setting: null });
  process.stdout.write(vault.keyId);
`;

it('lets processes that start at once for the first time agree on one key', async () => {
  const module = new URL('./open-vault.ts', import.meta.url).href;
  const home = await mkdtemp(join(tmpdir(), 'vitto-first-start-'));
  try {
    const starters = Array.from({ length: 4 }, () =>
      run(process.execPath, ['--input-type=module', '-e', OPEN, module, home]),
    );
    const ids = (await Promise.all(starters)).map(({ stdout }) => stdout);
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(ids).size).toBe(1);
  } finally {
    await rm(home, { recursive: true });
  }
});
