import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { until } from '../../guest-session.contract.ts';

const BUILD = fileURLToPath(new URL('../../../../../../../images/guest/build.sh', import.meta.url));
const NOBODY = 65_534;

/**
 * The guest's agent as a process of this host, behind a unix socket: the same program as in a machine. As root its
 * commands run as nobody, each in a control group where the host has version 2 of them.
 */
export class HostAgent {
  readonly folder: string;
  readonly home: string;
  readonly records: string;
  readonly #socket: string;
  readonly #cgroup: string | null;
  #process: ChildProcess | null = null;

  constructor() {
    this.folder = mkdtempSync('/var/tmp/vitto-agent-test-');
    chmodSync(this.folder, 0o711);
    execFileSync(BUILD, [this.folder]);
    this.home = join(this.folder, 'home');
    mkdirSync(this.home);
    if (process.getuid?.() === 0) chownSync(this.home, NOBODY, NOBODY);
    mkdirSync(join(this.folder, 'etc'));
    writeFileSync(join(this.folder, 'etc/passwd'), `user:x:${NOBODY}:${NOBODY}::${this.home}:/bin/sh\n`);
    writeFileSync(join(this.folder, 'etc/group'), '');
    this.records = join(this.folder, 'records');
    this.#socket = join(this.folder, 'agent.sock');
    this.#cgroup = makeCgroup();
  }

  async start(): Promise<void> {
    const places = {
      socket: this.#socket,
      'root-dir': this.folder,
      'run-dir': this.folder,
      home: this.home,
      records: this.records,
      'proxy-port': '0',
      cgroup: this.#cgroup ?? join(this.folder, 'no-cgroups'),
    };
    const args = Object.entries(places).map(([name, value]) => `--${name}=${value}`);
    rmSync(this.#socket, { force: true });
    this.#process = spawn(join(this.folder, 'vitto-agent'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
    await until(() => existsSync(this.#socket));
  }

  async connect(): Promise<Duplex> {
    const socket = connect(this.#socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Ends the agent as a crash does. */
  async kill(): Promise<void> {
    if (this.#process === null || this.#process.exitCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
    if (this.#cgroup !== null) await removeCgroup(this.#cgroup);
  }
}

/** A control group of version 2 that this process may use; `null` where there is none. */
function makeCgroup(): string | null {
  const mount = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1];
  if (mount === undefined || process.getuid?.() !== 0) return null;
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
  try {
    return mkdtempSync(join(mount, own, 'vitto-agent-test-'));
  } catch {
    return null;
  }
}

async function removeCgroup(folder: string): Promise<void> {
  const inside = execFileSync('find', [folder, '-depth', '-type', 'd'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const path of inside) {
    await until(() => {
      try {
        rmdirSync(path);
      } catch {
        return !existsSync(path);
      }
      return true;
    });
  }
}
