import ssh2 from 'ssh2';
import type { Dial } from '../../kernel/network/dial.ts';
import { SIGNATURES } from '../../kernel/ssh/host-key.ts';
import { GitRefusal, quotePath, type GitRequest } from './git-request.ts';
import type { Grant } from './grants.ts';

export interface GitSession {
  channel: ssh2.ClientChannel;
  /** Ends the connection. Idempotent. */
  close: () => void;
}

const HANDSHAKE_MS = 20_000;
const KEEPALIVE_MS = 30_000;

/**
 * Signs in at the server of a repository with its key and starts the verb there, on the path as it was granted.
 * @throws GitRefusal; nothing is left open then.
 */
export async function openGitSession(dial: Dial, grant: Grant, request: GitRequest): Promise<GitSession> {
  const { user, host, port, path } = grant.repository;
  const sock = await dial(host, port).catch((error: Error) => {
    throw new GitRefusal(error.message);
  });
  const client = new ssh2.Client();
  const close = () => {
    client.destroy();
    sock.destroy();
  };
  try {
    await signIn(client, grant, { sock, username: user, host });
    const env = request.isVersion2 ? { env: { GIT_PROTOCOL: 'version=2' } } : {};
    return { channel: await start(client, `${request.verb} ${quotePath(path)}`, env), close };
  } catch (error) {
    close();
    throw error;
  }
}

function signIn(
  client: ssh2.Client,
  grant: Grant,
  to: { sock: NonNullable<ssh2.ConnectConfig['sock']>; username: string; host: string },
): Promise<void> {
  let isWrongKey = false;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.on('ready', resolve);
  client.on('error', (error) => reject(isWrongKey ? wrongHostKey(to.host) : cannotSignIn(to.host, error)));
  client.on('close', () => reject(new GitRefusal(`${to.host} ended the connection`)));
  client.connect({
    sock: to.sock,
    username: to.username,
    // ssh2 keeps what it makes of the key until the connection ends.
    privateKey: grant.privateKey,
    authHandler: ['publickey'],
    readyTimeout: HANDSHAKE_MS,
    keepaliveInterval: KEEPALIVE_MS,
    keepaliveCountMax: 4,
    algorithms: { serverHostKey: grant.hostKeys.flatMap(({ type }) => [...SIGNATURES[type]]) },
    hostVerifier: (shown: Buffer) => {
      const isKnown = grant.hostKeys.some(({ blob }) => blob.equals(shown));
      isWrongKey = !isKnown;
      return isKnown;
    },
  });
  return promise;
}

function start(client: ssh2.Client, command: string, options: ssh2.ExecOptions): Promise<ssh2.ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, { ...options, allowHalfOpen: true }, (error, channel) => {
      if (error === undefined) resolve(channel);
      else reject(new GitRefusal('the server does not run git for this key'));
    });
  });
}

function wrongHostKey(host: string): GitRefusal {
  return new GitRefusal(
    `${host} shows another host key than the one that was confirmed; nothing was sent. Whoever owns this task can look at it in Vitto under Settings, Secrets, Deploy keys`,
  );
}

function cannotSignIn(host: string, error: Error & { level?: string }): GitRefusal {
  if (error.level === 'client-authentication') {
    return new GitRefusal(`${host} does not take the deploy key; add its public half there`);
  }
  if (error.level === 'handshake' || /algorithm/.test(error.message)) {
    return new GitRefusal(`${host} shows none of the host keys that were confirmed`);
  }
  return new GitRefusal(`the connection to ${host} broke off`);
}
