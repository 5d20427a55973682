import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../kernel/app-error.ts';
import type { DemoPackage } from './demo-package.ts';

const run = promisify(execFile);
const LIMIT_MS = 90_000;

/** Puts the tarball of `name@version` into `folder`. Rejects when it cannot. */
export type PackPackage = (spec: string, folder: string) => Promise<void>;
type Wanted = Pick<DemoPackage, 'name' | 'version' | 'integrity'>;

/**
 * The path of a package's tarball, which has the integrity that is asked for: from `cache`, else fetched into it with
 * the user's own npm, and so from their registry, through their proxy.
 * @throws AppError `demo.package-unavailable`, `demo.package-changed`.
 */
export async function fetchPackage(
  wanted: Wanted,
  cache: string,
  pack: PackPackage = packWithNpm,
): Promise<string> {
  const kept = join(cache, `${wanted.name.replaceAll('/', '-')}-${wanted.version}.tgz`);
  if ((await integrityOf(kept)) === wanted.integrity) return kept;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'fetching-'));
  try {
    const spec = `${wanted.name}@${wanted.version}`;
    await pack(spec, fresh).catch((error: unknown) => Promise.reject(unavailable(spec, cache, error)));
    const [file] = (await readdir(fresh)).filter((name) => name.endsWith('.tgz'));
    const fetched = join(fresh, file ?? 'missing.tgz');
    if ((await integrityOf(fetched)) !== wanted.integrity) throw changed(spec);
    await rename(fetched, kept);
    return kept;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function integrityOf(file: string): Promise<string | null> {
  const bytes = await readFile(file).catch(() => null);
  return bytes === null ? null : `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** A tarball is only fetched: nothing of it is installed, and no script of it runs. */
async function packWithNpm(spec: string, folder: string): Promise<void> {
  const args = ['pack', spec, '--pack-destination', folder, '--ignore-scripts', '--prefer-offline'];
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=20000'];
  const options = { cwd: folder, timeout: LIMIT_MS, maxBuffer: 4 * 1024 * 1024 };
  await run('npm', [...args, ...patience, '--json', '--no-workspaces'], options);
}

function unavailable(spec: string, cache: string, error: unknown): AppError {
  return new AppError(
    'demo.package-unavailable',
    `The demo works on ${spec}, a public project from the npm registry. It is not in the cache (${cache}) and could not be fetched: ${reasonOf(error)}.`,
    {
      status: 503,
      hint: 'Check the network and the registry (`npm ping`), then start the demo again. Once fetched it is kept, and the demo works offline.',
      cause: error,
    },
  );
}

/** npm's code for what went wrong; its words may hold addresses with passwords. */
function reasonOf(error: unknown): string {
  const {
    code,
    killed,
    stdout = '',
    stderr = '',
  } = error as {
    code?: unknown;
    killed?: boolean;
    stdout?: string;
    stderr?: string;
  };
  if (code === 'ENOENT') return 'npm is not in PATH';
  if (killed === true) return `npm gave no answer in ${LIMIT_MS / 1000} s`;
  const named = /(?:npm (?:error|ERR!) code |"code": ")([A-Z0-9_]+)/.exec(`${stderr}\n${stdout}`)?.[1];
  return named === undefined ? 'npm failed' : `npm says ${named}`;
}

function changed(spec: string): AppError {
  return new AppError(
    'demo.package-changed',
    `What the registry gave as ${spec} is not what the demo was made for (its SHA-512 differs). Nothing of it was used.`,
    {
      status: 502,
      hint: 'See which registry npm asks (`npm config get registry`): a mirror may repack or block packages.',
    },
  );
}
