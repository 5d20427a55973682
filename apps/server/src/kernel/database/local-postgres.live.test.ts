import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findPackagedBinaries,
  findSystemBinaries,
  preparePackagedBinaries,
} from './local-postgres-binaries.ts';
import { chooseDataRoot, mayTraverse } from './local-postgres-owner.ts';
import { startLocalPostgres, type LocalPostgres } from './local-postgres.ts';

const HOLDER = fileURLToPath(new URL('./local-postgres-testing-holder.ts', import.meta.url));
const quiet = { info: () => undefined, warn: () => undefined };
const isRoot = process.getuid?.() === 0;
const packaged = await findPackagedBinaries();
const system = await findSystemBinaries();

let folder: string;
let dataDir: string;
let children: ChildProcess[];
let servers: LocalPostgres[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitto pg-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'postgres');
  children = [];
  servers = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const server of servers) await server.stop();
  const pid = postmasterPid();
  if (pid !== null && isServerProcess(pid)) process.kill(pid, 'SIGQUIT');
  if (pid !== null) await until(() => !isServerProcess(pid));
  await rm(folder, { recursive: true, force: true });
});

describe('a local PostgreSQL', () => {
  it('is made at the first start and keeps its data over the next', async () => {
    const first = await start();
    expect(first.adopted).toBe(false);
    await query(first.url, 'create table kept (n int)');
    await query(first.url, 'insert into kept values (42)');
    await first.stop();
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  it('leaves no process, no socket and no half-made folder when it stops', async () => {
    const server = await start();
    const pid = postmasterPid();
    await server.stop();
    await server.stop();
    expect(pid).not.toBeNull();
    expect(isServerProcess(pid ?? 0)).toBe(false);
    expect(await readdir(`${dataDir}-socket`)).toEqual([]);
    // A copy of packaged programs, where one was needed, stays for the next start.
    const left = (await readdir(folder)).filter((name) => !/^postgres-\d/.test(name));
    expect(left.sort()).toEqual(['postgres', 'postgres-socket', 'postgres.log']);
  });

  it('gives the product a role without superuser rights that can make databases of its own', async () => {
    const { url } = await start();
    expect(
      await query(url, 'select rolsuper, rolcreatedb from pg_roles where rolname = current_user'),
    ).toEqual([{ rolsuper: false, rolcreatedb: true }]);
    await query(url, 'create database another');
    const settings = await query(
      url,
      `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      current_setting('listen_addresses') as addresses, current_setting('max_connections') as connections`,
    );
    expect(settings).toEqual([{ encoding: 'UTF8', fsync: 'on', addresses: '', connections: '200' }]);
    expect(await query(url, `select lower('ÄÉ') as low, 'a' < 'B' as ordered`)).toEqual([
      { low: 'äé', ordered: false },
    ]);
  });

  it('lets only the owner into the folder of its socket', async () => {
    await start();
    expect(statSync(`${dataDir}-socket`).mode & 0o777).toBe(0o700);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    if (!isRoot) return;
    const stranger = spawnSync('/usr/bin/test', ['-e', join(`${dataDir}-socket`, '.s.PGSQL.5432')], {
      uid: 65534,
      gid: 65534,
    });
    expect(stranger.status).toBe(1);
    // Even with the folder open the kernel tells the server who asks.
    await chmod(`${dataDir}-socket`, 0o755);
    await chmod(join(`${dataDir}-socket`, '.s.PGSQL.5432'), 0o777);
    const script = `import pg from 'pg'; const c = new pg.Client({ host: process.argv[1], user: 'vitto', database: 'vitto' });
      await c.connect().then(() => console.log('in'), (error) => console.log(error.code)); await c.end().catch(() => 0);`;
    if (!mayTraverse(fileURLToPath(new URL('.', import.meta.url)))) return;
    const asked = spawnSync(process.execPath, ['--input-type=module', '-e', script, `${dataDir}-socket`], {
      uid: 65534,
      gid: 65534,
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      encoding: 'utf8',
    });
    expect(asked.stdout.trim()).toBe('28000');
  });

  it('survives a kill -9 of its starter and is adopted with its data', async () => {
    const holder = await hold();
    await query(holder.url, 'create table kept (n int)');
    await query(holder.url, 'insert into kept values (7)');
    const pid = postmasterPid();
    await kill(holder.child, 'SIGKILL');
    const next = await start();
    expect(next.adopted).toBe(true);
    expect(postmasterPid()).toBe(pid);
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await next.stop();
    expect(isServerProcess(pid ?? 0)).toBe(false);
  });

  it('is started once by two starters at the same time, and stopped by the last of them', async () => {
    const both = await Promise.all([hold(), hold()]);
    expect(both.filter((one) => !one.adopted)).toHaveLength(1);
    const pid = postmasterPid();
    await kill(both[0].child, 'SIGTERM');
    expect(isServerProcess(pid ?? 0)).toBe(true);
    expect(await query(both[1].url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await kill(both[1].child, 'SIGTERM');
    expect(isServerProcess(pid ?? 0)).toBe(false);
  });

  it('never loses a starter to another that is stopping', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await start();
      const [, second] = await Promise.all([first.stop(), start()]);
      expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await second.stop();
    }
  });

  it('is left running while a connection of somebody else is open', async () => {
    const server = await start();
    const other = new pg.Client({ connectionString: server.url });
    await other.connect();
    await server.stop();
    expect((await other.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await other.end();
    const next = await start();
    expect(next.adopted).toBe(true);
  });

  it('comes back by itself when the server process is killed', async () => {
    const server = await start();
    await query(server.url, 'create table kept as select 1 as n');
    process.kill(postmasterPid() ?? 0, 'SIGKILL');
    const rows = await retry(() => query(server.url, 'select n from kept'));
    expect(rows).toEqual([{ n: 1 }]);
    await server.stop();
    expect(postmasterPid()).toBeNull();
  });

  it('starts over a pid file that names a process of something else', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 1 as n');
    const leftover = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8');
    await first.stop();
    const owner = statSync(dataDir);
    const bystander = spawn('/bin/sleep', ['600'], isRoot ? { uid: owner.uid, gid: owner.gid } : {});
    children.push(bystander);
    for (const file of [join(dataDir, 'postmaster.pid'), join(`${dataDir}-socket`, '.s.PGSQL.5432.lock')]) {
      await writeFile(file, leftover.replace(/^\d+/, String(bystander.pid)));
      if (isRoot) await chown(file, owner.uid, owner.gid);
    }
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
    expect(bystander.exitCode).toBeNull();
  });

  it('refuses a data directory of a version that this machine has not, and says what to do', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    await writeFile(join(dataDir, 'PG_VERSION'), '9\n');
    await expect(start()).rejects.toMatchObject({
      code: 'database.wrong-major',
      hint: expect.stringContaining('postgresql-9') as string,
    });
  });

  it('says what the server said when it cannot start', async () => {
    await (await start()).stop();
    await writeFile(join(dataDir, 'postgresql.conf'), 'max_connections = many\n');
    await expect(start()).rejects.toMatchObject({
      code: 'database.start-failed',
      message: expect.stringContaining('max_connections') as string,
    });
  });

  it.skipIf(packaged === null)('runs on the programs that come with the packages', async () => {
    const server = await start('packaged');
    expect(
      await query(server.url, `select current_setting('server_version_num')::int / 10000 as major`),
    ).toEqual([{ major: packaged?.major }]);
    await server.stop();
    // The version of the data directory decides from now on.
    await (await start('system')).stop();
  });

  it.skipIf(packaged === null || !isRoot)(
    'copies the programs of the packages where their folder is closed to the user that runs them',
    async () => {
      const clone = join(folder, 'clone');
      const native = join(clone, 'package/native');
      await cp(dirname(packaged?.bin ?? ''), native, { recursive: true, verbatimSymlinks: true });
      await writeFile(join(clone, 'package/package.json'), JSON.stringify({ version: '18.0.0' }));
      await chmod(clone, 0o700);
      const binaries = { bin: join(native, 'bin'), major: 18, source: 'packaged' as const };
      const ready = await preparePackagedBinaries(binaries, { cacheDir: folder, foreignUser: true });
      expect(ready.bin).toBe(join(folder, 'postgres-18.0.0/bin'));
      const said = spawnSync(join(ready.bin, 'postgres'), ['--version'], {
        uid: 65534,
        gid: 65534,
        encoding: 'utf8',
      });
      expect(said.stdout).toContain('PostgreSQL');
    },
  );

  it.skipIf(!isRoot)('runs for an ordinary user', async (context) => {
    if (!mayTraverse(dirname(HOLDER)))
      context.skip('this clone lies in a folder that is closed to other users');
    await chown(folder, 65534, 65534);
    const holder = await hold({ uid: 65534, gid: 65534 });
    expect(statSync(dataDir).uid).toBe(65534);
    const pid = postmasterPid();
    await kill(holder.child, 'SIGTERM');
    expect(isServerProcess(pid ?? 0)).toBe(false);
  });

  it('finds the programs of the system only where they are whole', async () => {
    const empty = await findSystemBinaries([{ root: folder, folder: /^(\d+)$/ }]);
    expect(empty).toEqual([]);
    await mkdir(join(folder, '16/bin'), { recursive: true });
    await writeFile(join(folder, '16/bin/postgres'), '');
    expect(await findSystemBinaries([{ root: folder, folder: /^(\d+)$/ }])).toEqual([]);
    expect(system.every((one) => one.major >= 14)).toBe(true);
  });
});

describe('the folder for data that other users must reach', () => {
  it('is the home itself for an ordinary user', () => {
    const home = join(folder, 'home');
    expect(chooseDataRoot({ home, uid: 1000 })).toBe(home);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('is the home itself for root when the way there is open', () => {
    const home = join(folder, 'home');
    expect(chooseDataRoot({ home, uid: 0 })).toBe(home);
    expect(chooseDataRoot({ home, uid: 0 })).toBe(home);
  });

  it('is open for passing even where new folders are closed by default', () => {
    const before = process.umask(0o077);
    try {
      const home = join(folder, 'one/two');
      expect(chooseDataRoot({ home, uid: 0 })).toBe(home);
      expect(statSync(join(folder, 'one')).mode & 0o777).toBe(0o711);
    } finally {
      process.umask(before);
    }
  });

  it('is elsewhere for root when a folder on the way is closed, and stays there', async () => {
    const closed = mkdtempSync(join(folder, 'closed-'));
    const options = { home: join(closed, 'home'), uid: 0, rootData: join(folder, 'var') };
    const chosen = chooseDataRoot(options);
    expect(chosen.startsWith(join(folder, 'var'))).toBe(true);
    await chmod(closed, 0o755);
    expect(chooseDataRoot(options)).toBe(chosen);
  });
});

async function start(prefer: 'system' | 'packaged' = 'system'): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ dataDir, log: quiet, prefer });
  servers.push(server);
  return server;
}

async function hold(
  user: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; url: string; adopted: boolean }> {
  const child = spawn(process.execPath, [HOLDER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'], ...user });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const said = JSON.parse(line) as { url?: string; adopted?: boolean; code?: string; message?: string };
  if (said.url === undefined || said.adopted === undefined) throw new Error(`${said.code}: ${said.message}`);
  return { child, url: said.url, adopted: said.adopted };
}

async function kill(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  const gone = once(child, 'exit');
  child.kill(name);
  await gone;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function postmasterPid(): number | null {
  const file = join(dataDir, 'postmaster.pid');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : null;
}

function isServerProcess(pid: number): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' &&
      !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    );
  } catch {
    return false;
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !isTrue(); tries += 1) await sleep(10);
}

async function retry<T>(action: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (tries > 500) throw error;
      await sleep(20);
    }
  }
}
