import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeKeyPair } from '../../../kernel/ssh/private-key.ts';

const run = promisify(execFile);

/** A real sshd on a loopback port, with bare repositories of a real git and one deploy key that opens them. */
export interface GitServer {
  port: number;
  user: string;
  folder: string;
  privateKey: string;
  /** As known_hosts has it. */
  hostKey: string;
  /** A bare repository with one commit; gives its address. */
  makeRepository: (name: string) => Promise<string>;
  git: (...args: string[]) => Promise<string>;
  close: () => Promise<void>;
}

export async function openGitServer(): Promise<GitServer> {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-git-'));
  const { username: user } = userInfo();
  const port = await freePort();
  const deploy = makeKeyPair();
  const host = makeKeyPair();
  const file = (name: string) => join(folder, name);
  await chmod(folder, 0o755);
  await writeFile(file('host_key'), host.privateKey, { mode: 0o600 });
  await writeFile(file('authorized_keys'), `restrict ${deploy.publicKey}\n`, { mode: 0o600 });
  await writeFile(
    file('sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${file('host_key')}`,
      `AuthorizedKeysFile ${file('authorized_keys')}`,
      `PidFile ${file('pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'AcceptEnv GIT_PROTOCOL',
      // Whatever is asked for, git's own programs alone are run.
      'ForceCommand case "$SSH_ORIGINAL_COMMAND" in git-upload-pack*|git-receive-pack*) exec sh -c "$SSH_ORIGINAL_COMMAND";; *) exit 97;; esac',
    ].join('\n'),
  );
  await mkdir('/run/sshd', { recursive: true }).catch(() => undefined);
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', file('sshd_config')], { stdio: 'ignore' });
  await answers(port, sshd);
  // Nothing of whoever runs the test: no settings, no keys.
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  const git = async (...args: string[]) => (await run('git', args, { env })).stdout;
  return {
    port,
    user,
    folder,
    privateKey: deploy.privateKey,
    hostKey: host.publicKey,
    git,
    makeRepository: async (name) => {
      const [bare, work] = [file(name), file(`${name}.work`)];
      await git('init', '-q', '--bare', '-b', 'main', bare);
      await git('init', '-q', '-b', 'main', work);
      await writeFile(join(work, 'README'), `this is ${name}\n`);
      await git('-C', work, 'add', '.');
      await git('-C', work, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
      await git('-C', work, 'push', '-q', bare, 'main');
      return `ssh://${user}@127.0.0.1:${port}${bare}`;
    },
    close: async () => {
      const ended = new Promise((resolve) => sshd.once('exit', resolve));
      if (sshd.exitCode === null && sshd.kill()) await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until sshd takes a connection; rejects when it ends before. */
async function answers(port: number, sshd: ChildProcess): Promise<void> {
  while (sshd.exitCode === null) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`sshd ended with ${sshd.exitCode}`);
}

/** What a file holds, for looking for key bytes in it. */
export function readBytes(path: string): Promise<Buffer> {
  return readFile(path);
}
