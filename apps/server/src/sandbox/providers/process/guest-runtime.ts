import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  constants,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compileSeccompFilter } from './seccomp-filter.ts';
import { isServerRoot } from './sandbox-user.ts';
import { syscallTable } from './seccomp-rules.ts';

const SOURCES = fileURLToPath(new URL('guest/', import.meta.url));
/** What the guest's own programs share with the host side of other guests. They import each other only. */
const SHARED = fileURLToPath(new URL('../../guest/', import.meta.url));
const SHARED_SOURCES = [
  'asked-path.ts',
  'failure-words.ts',
  'grep.ts',
  'list-page.ts',
  'match-reader.ts',
  'odd-names.ts',
];
const run = promisify(execFile);

/** What sandboxes are given from the host: the supervisor, the file server, an /etc, the compiled filter, a Node.js. */
export interface GuestRuntime {
  folder: string;
  filter: string;
  nodeBinary: string;
}

const ETC: Record<string, string> = {
  passwd:
    'root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  group: 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  'host.conf': 'multi on\n',
};

/**
 * Lays the runtime below `root/.runtime-HASH`, once for each version of it, readable by every user. The guest's
 * TypeScript is stripped to plain JavaScript here, for Node.js starts 45 ms faster on that.
 */
export async function placeGuestRuntime(root: string, nodeBinary: string): Promise<GuestRuntime> {
  const table = syscallTable(process.arch);
  if (table === null) throw new Error(`there is no seccomp filter for ${process.arch}`);
  const own = (await readdir(SOURCES)).filter((name) => /^[a-z-]+\.(?:ts|pl)$/.test(name)).sort();
  const names = [...own, ...SHARED_SOURCES];
  const sources = await Promise.all(
    names.map((name) => readFile(join(own.includes(name) ? SOURCES : SHARED, name), 'utf8')),
  );
  const filter = compileSeccompFilter(table);
  const hash = createHash('sha256')
    .update(filter)
    .update(JSON.stringify([names, sources, ETC, process.version]));
  const folder = join(root, `.runtime-${hash.digest('hex').slice(0, 16)}`);
  const runtime = {
    folder,
    filter: join(folder, 'seccomp.bpf'),
    nodeBinary: await reachableNode(root, nodeBinary),
  };
  if (await exists(runtime.filter)) return runtime;

  const fresh = `${folder}.${process.pid}`;
  await mkdir(join(fresh, 'guest'), { recursive: true });
  await mkdir(join(fresh, 'etc'));
  for (const [index, name] of names.entries()) {
    const source = sources[index] ?? '';
    const isScript = name.endsWith('.ts');
    const text = isScript
      ? (await stripTypes(source)).replaceAll(/(from ')[./]+(?:guest\/)?([a-z-]+)\.ts'/g, "$1./$2.mjs'")
      : source;
    await writeFile(join(fresh, 'guest', isScript ? name.replace(/\.ts$/, '.mjs') : name), text);
  }
  await writeFile(join(fresh, 'seccomp.bpf'), filter);
  for (const [name, text] of Object.entries(ETC)) {
    await writeFile(join(fresh, 'etc', name), text);
  }
  await makeReadable(fresh);
  await rename(fresh, folder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(fresh, { recursive: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return runtime;
}

/** In a process of its own, since the function warns on this process's stderr that it is new. */
async function stripTypes(source: string): Promise<string> {
  const program = `process.stdout.write(require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync(0, 'utf8')))`;
  const promise = run(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', program], {
    env: {},
  });
  promise.child.stdin?.end(source);
  return (await promise).stdout;
}

/** The binary itself when the sandbox's user may reach it, else a copy of it below `root`. */
async function reachableNode(root: string, nodeBinary: string): Promise<string> {
  if (!isServerRoot() || (await mayEveryoneRun(nodeBinary))) return nodeBinary;
  const { size, mtimeMs } = await stat(nodeBinary);
  const copy = join(root, `.node-${size}-${Math.trunc(mtimeMs)}`);
  if (await exists(copy)) return copy;
  const fresh = `${copy}.${process.pid}`;
  await copyFile(nodeBinary, fresh, constants.COPYFILE_FICLONE);
  await chmod(fresh, 0o755);
  await rename(fresh, copy);
  return copy;
}

async function mayEveryoneRun(file: string): Promise<boolean> {
  for (let path = file; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
    if (basename(path) === '') return ((await stat(file)).mode & 0o004) !== 0;
  }
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else await chmod(path, 0o644);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
