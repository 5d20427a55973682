import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { createDial } from '../../kernel/network/dial.ts';
import { makeKeyPair } from '../../kernel/ssh/private-key.ts';
import { scanHostKeys } from '../../kernel/ssh/scan-host-keys.ts';
import { formatHostKey, parseHostKey } from '../../kernel/ssh/host-key.ts';
import { GitTransport, type GitTransportOptions } from './git-transport.ts';
import { openGitServer, type GitServer } from './testing/git-server.ts';
import { openGuestGit, type GuestGit } from './testing/guest-git.ts';

let server: GitServer;
let mine: string;
let other: string;
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  server = await openGitServer();
  [mine, other] = [await server.makeRepository('mine.git'), await server.makeRepository('other.git')];
}, 60_000);
afterAll(() => server.close());

const dial = createDial({ mayConnect: (address) => address === '127.0.0.1' });

async function open(
  options: Partial<GitTransportOptions> = {},
): Promise<{ transport: GitTransport; guest: GuestGit }> {
  const transport = new GitTransport({ vmId: 'vm', logger: silentLogger, dial, ...options });
  const guest = await openGuestGit(transport);
  closers.push(async () => {
    transport.close();
    await guest.close();
  });
  return { transport, guest };
}

async function openWithKey(options: Partial<GitTransportOptions> = {}) {
  const opened = await open(options);
  opened.transport.grant(grant());
  return opened;
}

const grant = () => ({
  repository: mine,
  privateKey: server.privateKey,
  hostKeys: [server.hostKey],
  mayBePrivate: false,
});

async function commit(guest: GuestGit): Promise<void> {
  await writeFile(join(guest.folder, 'w', 'more'), `${Math.random()}`);
  await guest.git('-C', 'w', 'add', '.');
  await guest.git('-C', 'w', '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'more');
}

describe('git of a VM, against a real sshd', { timeout: 60_000 }, () => {
  it('clones and fetches with a key that never comes near it', async () => {
    const { guest } = await openWithKey();
    expect(await guest.git('clone', '-q', mine, 'w')).toEqual({ code: 0, output: '' });
    expect(await readFile(join(guest.folder, 'w', 'README'), 'utf8')).toBe('this is mine.git\n');
    expect((await guest.git('-C', 'w', 'fetch', '--depth=1')).code).toBe(0);
    const body = server.privateKey.split('\n').slice(1, 3);
    for (const name of await readdir(guest.folder, { recursive: true })) {
      const bytes = await readFile(join(guest.folder, name)).catch(() => Buffer.alloc(0));
      for (const line of body) expect(bytes.includes(line)).toBe(false);
    }
  });

  it('pushes while that is allowed, and not before or after', async () => {
    const { guest, transport } = await openWithKey();
    await guest.git('clone', '-q', mine, 'w');
    await commit(guest);
    const refused = await guest.git('-C', 'w', 'push', 'origin', 'HEAD:refs/heads/mine');
    expect(refused).toMatchObject({ code: 128, output: expect.stringContaining('use the tool git_push') });
    const { withdraw } = transport.allowPush(mine, 60_000);
    expect((await guest.git('-C', 'w', 'push', 'origin', 'HEAD:refs/heads/mine')).code).toBe(0);
    withdraw();
    await commit(guest);
    expect((await guest.git('-C', 'w', 'push', 'origin', 'HEAD:refs/heads/mine')).code).toBe(128);
    transport.allowPush(mine, 0);
    transport.allowPush(other, 60_000);
    expect((await guest.git('-C', 'w', 'push', 'origin', 'HEAD:refs/heads/mine')).code).toBe(128);
    const kept = await server.git('-C', join(server.folder, 'mine.git'), 'log', '--oneline', 'mine');
    expect(kept.trim().split('\n')).toHaveLength(2);
  });

  it.each([
    ['another repository', () => other],
    ['another host', () => mine.replace('127.0.0.1', 'example.com')],
    ['another port', () => mine.replace(`:${server.port}`, '')],
    ['another user', () => mine.replace(`${server.user}@`, 'somebody@')],
  ])('%s is refused, with what to do', async (_, address) => {
    const { guest } = await openWithKey();
    const { code, output } = await guest.git('clone', '-q', address(), 'w');
    expect(code).toBe(128);
    expect(output).toContain('Vitto: there is no deploy key for');
    expect(output).toContain('Deploy keys');
  });

  it('another verb is refused', async () => {
    const { guest } = await openWithKey();
    const { code, output } = await guest.git('archive', `--remote=${mine}`, 'HEAD');
    expect(code).not.toBe(0);
    expect(output).toContain('only fetching and pushing');
  });

  it('asks for the repository in the form that was granted, whatever form the guest uses', async () => {
    const { guest } = await openWithKey();
    expect((await guest.git('clone', '-q', mine.replace(/\.git$/, ''), 'w')).code).toBe(0);
  });

  it('a server that shows another host key than was confirmed gets nothing', async () => {
    const { guest, transport } = await open();
    transport.grant({ ...grant(), hostKeys: [makeKeyPair().publicKey] });
    const { code, output } = await guest.git('clone', '-q', mine, 'w');
    expect([code, output]).toEqual([128, expect.stringContaining('shows another host key')]);
  });

  it('a key that the server does not take says so', async () => {
    const { guest, transport } = await open();
    transport.grant({ ...grant(), privateKey: makeKeyPair().privateKey });
    const { code, output } = await guest.git('clone', '-q', mine, 'w');
    expect([code, output]).toEqual([128, expect.stringContaining('does not take the deploy key')]);
  });

  it('what the server says of a failure is shown', async () => {
    const { guest, transport } = await open();
    const gone = `${mine.slice(0, -8)}gone.git`;
    transport.grant({ ...grant(), repository: gone });
    const { code, output } = await guest.git('clone', '-q', gone, 'w');
    expect([code, output]).toEqual([128, expect.stringContaining('does not appear to be a git repository')]);
  });

  it('a server in the private network is reached only when the owner named it', async () => {
    const strict = await open({ dial: createDial(), dialPrivate: dial });
    strict.transport.grant(grant());
    const refused = await strict.guest.git('clone', '-q', mine, 'w');
    expect(refused.output).toContain('is not an address of the public internet');
    strict.transport.grant({ ...grant(), mayBePrivate: true });
    expect((await strict.guest.git('clone', '-q', mine, 'w')).code).toBe(0);
  });

  it('more bytes than a session may move end it', async () => {
    const { guest } = await openWithKey({ limits: { maxBytes: 100 } });
    const { code, output } = await guest.git('clone', '-q', mine, 'w');
    expect([code, output]).toEqual([128, expect.stringContaining('Vitto: it is larger than it may be')]);
  });

  it('a key that was taken back, or a VM that has ended, opens nothing', async () => {
    const { guest, transport } = await openWithKey();
    transport.revoke(mine);
    expect((await guest.git('clone', '-q', mine, 'w')).output).toContain('there is no deploy key');
    transport.grant(grant());
    transport.close();
    expect((await guest.git('clone', '-q', mine, 'w')).code).toBe(128);
  });

  it('finds the keys that a server shows, for a person to compare', async () => {
    const keys = await scanHostKeys(dial, '127.0.0.1', server.port);
    expect(keys.map(formatHostKey)).toEqual([formatHostKey(parseHostKey(server.hostKey))]);
    await expect(scanHostKeys(createDial(), '127.0.0.1', server.port)).rejects.toMatchObject({
      code: 'network.address-refused',
    });
  });
});

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});
