import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { HostPrograms } from './host-programs.ts';
import { asSandboxUser, type SandboxUser } from './sandbox-user.ts';

/**
 * The network namespace of a session, with nothing in it but a loopback of its own, and the user namespace that owns
 * it. All commands of a session join it, so that a server of `startProcess` answers a later command. It is held by
 * open files, not by a process: nothing runs while no command does, and it ends with this server.
 */
export class SessionNetwork {
  /** File descriptors of this process, to be inherited by a launch. */
  readonly userFd: number;
  readonly networkFd: number;
  #isClosed = false;

  private constructor(userFd: number, networkFd: number) {
    this.userFd = userFd;
    this.networkFd = networkFd;
  }

  static async open(programs: HostPrograms, user: SandboxUser): Promise<SessionNetwork> {
    const [file = '', ...drop] = asSandboxUser(programs, user);
    const maker = spawn(
      file,
      [
        ...drop,
        programs.bwrap,
        ...['--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--info-fd', '3'],
        ...['--', programs.sh, '-c', 'echo ready; read -r end'],
      ],
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: {}, cwd: '/' },
    );
    const ended = once(maker, 'close');
    ended.catch(() => undefined);
    let complaint = '';
    maker.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString('utf8').slice(0, 500)));
    try {
      const info = readUntil(maker.stdio[3] as Readable, /"child-pid":\s*(\d+)/);
      const [pid] = await Promise.all([info, readUntil(maker.stdout, /(ready)/)]);
      return new SessionNetwork(openSync(`/proc/${pid}/ns/user`, 'r'), openSync(`/proc/${pid}/ns/net`, 'r'));
    } catch {
      maker.kill('SIGKILL');
      await ended.catch(() => undefined);
      throw new Error(`no namespaces could be made: ${complaint.trim() || 'bwrap gave no reason'}`);
    } finally {
      maker.stdin?.on('error', () => undefined);
      maker.stdin?.end();
      await ended.catch(() => undefined);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.userFd);
    closeSync(this.networkFd);
  }
}

/** The first group of `pattern` in what a stream says; rejects when it ends before. */
export function readUntil(stream: Readable, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const match = pattern.exec(text);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('ended early')));
  });
}
