import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A new temporary folder that PostgreSQL's user can pass through. Not on a file system in memory, where there is a
 * choice: what a commit costs is a part of what is measured.
 */
export async function makeBenchFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'vitto-bench-'));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
