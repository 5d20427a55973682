import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('.', import.meta.url));
const OLD_NODE = '/usr/bin/node';
const hasOldNode = /^v2[0-3]\./.test(spawnSync(OLD_NODE, ['--version'], { encoding: 'utf8' }).stdout ?? '');

const ONE = { version: '1.0.0', integrity: 'sha512-one' };
const ELSEWHERE = { version: '1.0.0', integrity: 'sha512-elsewhere', optional: true };
/** What the clone asks for, with a package that is for other machines only, and what npm notes after installing it. */
const LOCK = JSON.stringify({
  packages: { '': {}, 'node_modules/one': ONE, 'node_modules/elsewhere': ELSEWHERE },
});
const INSTALLED = JSON.stringify({ packages: { 'node_modules/one': ONE } });
const INSTALL = `mkdir -p node_modules/one && echo '${INSTALLED}' > node_modules/.package-lock.json`;

// A clone in small: our scripts, a lock file with one package, an npm that writes down how it was called.
let clone: string;
let children: ChildProcess[];

beforeEach(() => {
  clone = join(mkdtempSync(join(tmpdir(), 'vitto-clone-')), 'a path with spaces');
  children = [];
  mkdirSync(clone);
  cpSync(SCRIPTS, join(clone, 'scripts'), { recursive: true });
  writeFileSync(join(clone, 'package-lock.json'), LOCK);
  writeProgram('console.log(JSON.stringify(process.argv.slice(2)));');
  writeNpm(INSTALL);
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(join(clone, '..'), { recursive: true, force: true });
});

describe('npm start', { timeout: 30_000 }, () => {
  it('installs the packages once and then starts without asking npm', () => {
    const first = vitto(['start', '--port', '4900', 'two words']);
    expect(first.stdout).toBe('["--port","4900","two words"]\n');
    expect(npmCalls()).toEqual([expect.stringMatching(/^ci --ignore-scripts /)]);
    expect(vitto(['start']).status).toBe(0);
    expect(npmCalls()).toHaveLength(1);
  });

  it('installs again when the lock file asks for another version', () => {
    vitto(['start']);
    const changed = LOCK.replace('sha512-one', 'sha512-two');
    writeFileSync(join(clone, 'package-lock.json'), changed);
    writeNpm(INSTALL.replace('sha512-one', 'sha512-two'));
    expect(vitto(['start']).status).toBe(0);
    expect(npmCalls()).toHaveLength(2);
  });

  it('leaves packages alone that somebody has installed by hand', () => {
    mkdirSync(join(clone, 'node_modules/one'), { recursive: true });
    writeFileSync(join(clone, 'node_modules/.package-lock.json'), INSTALLED);
    expect(vitto(['start']).status).toBe(0);
    expect(npmCalls()).toEqual([]);
  });

  it('installs once when two are started together', async () => {
    writeNpm(`sleep 0.5; ${INSTALL}`);
    const both = [startVitto(['start']), startVitto(['start'])];
    const codes = await Promise.all(both.map(async (child) => ((await once(child, 'exit')) as [number])[0]));
    expect(codes).toEqual([0, 0]);
    expect(npmCalls()).toHaveLength(1);
  });

  it('shows what npm said when it fails, and what to do', () => {
    writeNpm('echo "the registry is on fire" >&2; exit 1');
    const failed = vitto(['start']);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('the registry is on fire');
    expect(failed.stderr).toContain('Check the network');
    expect(failed.stdout).toBe('');
  });

  it('installs nothing with --no-install', () => {
    const refused = vitto(['start', '--no-install']);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('npm ci');
    expect(npmCalls()).toEqual([]);
  });

  it('keeps the exit code of the program', () => {
    writeProgram('process.exitCode = 7;');
    expect(vitto(['start']).status).toBe(7);
  });

  it('names the commands there are when it does not know one', () => {
    const unknown = vitto(['strat']);
    expect(unknown.status).toBe(1);
    expect(unknown.stderr).toContain('start, demo');
  });

  const nodes = [
    { on: 'the Node of the product', node: process.execPath, isThere: true },
    { on: 'an older Node, which hands over', node: OLD_NODE, isThere: hasOldNode },
  ];
  it.for(nodes)(
    'passes a signal on and waits for the program, on $on',
    async ({ node, isThere }, context) => {
      if (!isThere) context.skip('there is no older Node on this machine');
      linkNode();
      writeProgram(`const idle = setInterval(() => {}, 1000);
      process.on('SIGTERM', () => { console.log('closing'); setTimeout(() => { clearInterval(idle); process.exitCode = 5; }, 100); });
      console.log(process.pid);`);
      const child = startVitto(['start'], node);
      const lines = createInterface({ input: child.stdout! });
      const [pid] = (await once(lines, 'line')) as [string];
      child.kill('SIGTERM');
      const [[code]] = (await Promise.all([once(child, 'exit'), once(lines, 'line')])) as [
        [number],
        [string],
      ];
      expect(code).toBe(5);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    },
  );

  it.skipIf(!hasOldNode)('ends the program when the older Node that handed over is killed', async () => {
    linkNode();
    writeProgram(
      `setInterval(() => {}, 1000); process.on('SIGTERM', () => { console.log('closing'); process.exit(); }); console.log(process.pid);`,
    );
    const child = startVitto(['start'], OLD_NODE);
    const lines = createInterface({ input: child.stdout! });
    await once(lines, 'line');
    child.kill('SIGKILL');
    expect(await once(lines, 'line')).toEqual(['closing']);
  });
});

describe('npm run build:web', { timeout: 30_000 }, () => {
  const dist = (name: string) => join(clone, 'apps/web/dist', name);
  const build = (name: string) => {
    writeVite(name);
    const built = vitto(['build:web']);
    expect(built.stderr).not.toContain('could not be built');
    return built.status;
  };

  it('leaves the files of earlier builds to the tabs that are open, for a week', () => {
    expect(build('one')).toBe(0);
    expect(build('two')).toBe(0);
    expect(readFileSync(dist('index.html'), 'utf8')).toBe('two');
    expect(readFileSync(dist('assets/one.js'), 'utf8')).toBe('one');
    const longAgo = Date.now() / 1000 - 8 * 24 * 3600;
    utimesSync(dist('assets/one.js'), longAgo, longAgo);
    expect(build('three')).toBe(0);
    expect(readdirSync(dist('assets')).sort()).toEqual(['three.js', 'two.js']);
    expect(readdirSync(join(clone, 'apps/web/.cache'))).toEqual([]);
  });

  it('builds nothing where nothing has changed, unless it must', () => {
    expect(build('one')).toBe(0);
    rmSync(dist('assets/one.js'));
    expect(vitto(['build:web']).status).toBe(0);
    expect(existsSync(dist('assets/one.js'))).toBe(false);
    expect(vitto(['build:web', '--force']).status).toBe(0);
    expect(existsSync(dist('assets/one.js'))).toBe(true);
  });

  it('keeps what is served when a build fails', () => {
    expect(build('one')).toBe(0);
    writeVite('two', 'process.exit(1)');
    expect(vitto(['build:web']).status).toBe(1);
    expect(readFileSync(dist('index.html'), 'utf8')).toBe('one');
    expect(readdirSync(join(clone, 'apps/web/.cache'))).toEqual([]);
  });
});

function vitto(args: string[]) {
  return spawnSync(process.execPath, [join(clone, 'scripts/vitto.mjs'), ...args], {
    encoding: 'utf8',
    env: environment(),
  });
}

function startVitto(args: string[], node = process.execPath): ChildProcess {
  const child = spawn(node, [join(clone, 'scripts/vitto.mjs'), ...args], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** Without what npm tells its scripts about itself, and with our npm before any other. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: `${clone}/bin:/usr/bin:/bin`, HOME: clone };
}

function writeProgram(text: string): void {
  mkdirSync(join(clone, 'apps/server/src'), { recursive: true });
  writeFileSync(join(clone, 'apps/server/src/main.ts'), text);
}

/** A vite that writes a page and one file, and a source that has changed with it. */
function writeVite(name: string, first = ''): void {
  const web = join(clone, 'apps/web');
  for (const folder of [web, join(clone, 'packages/contracts'), join(clone, 'node_modules/vite/bin')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(web, 'index.html'), name);
  writeFileSync(
    join(clone, 'node_modules/vite/bin/vite.js'),
    `${first}
    const { mkdirSync, writeFileSync } = require('node:fs');
    const out = process.argv[process.argv.indexOf('--outDir') + 1];
    mkdirSync(out + '/assets', { recursive: true });
    writeFileSync(out + '/index.html', '${name}');
    writeFileSync(out + '/assets/${name}.js', '${name}');`,
  );
}

function writeNpm(action: string): void {
  mkdirSync(join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'bin/npm'), `#!/bin/sh\necho "$@" >> npm-calls\n${action}\n`);
  chmodSync(join(clone, 'bin/npm'), 0o755);
}

function npmCalls(): string[] {
  const file = join(clone, 'npm-calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function linkNode(): void {
  vitto(['start']);
  const folder = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(folder, 'node'));
}
