import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from './report.ts';

const FOLDER = join(import.meta.dirname, 'peers');

/**
 * Installs what the peers need from their own lock file, unless it is there already. No install script is run.
 * @throws when npm fails, with what it said.
 */
export async function installPeers(): Promise<void> {
  const lock = await readFile(join(FOLDER, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const stamp = join(FOLDER, 'node_modules', '.bench-install');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === hash) return;
  const { packages } = JSON.parse(lock.toString()) as { packages: Record<string, unknown> };
  await runInstall(Object.keys(packages).length - 1);
  await writeFile(stamp, hash);
}

async function runInstall(total: number): Promise<void> {
  const started = performance.now();
  const report = async () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    say(`installing the peers (once): ${await countInstalled()} of ${total} packages, ${seconds} s`);
  };
  await report();
  const timer = setInterval(() => void report(), 5_000);
  try {
    const args = [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--workspaces=false',
    ];
    const npm = spawn('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)));
    const [code] = (await once(npm, 'close')) as [number | null];
    if (code !== 0) throw new Error(`npm ci failed in benches/peers:\n${errors}`);
  } finally {
    clearInterval(timer);
  }
  await report();
}

async function countInstalled(): Promise<number> {
  const list = (folder: string) => readdir(folder).catch(() => []);
  const top = (await list(join(FOLDER, 'node_modules'))).filter((name) => !name.startsWith('.'));
  const counts = await Promise.all(
    top.map(async (name) =>
      name.startsWith('@') ? (await list(join(FOLDER, 'node_modules', name))).length : 1,
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
