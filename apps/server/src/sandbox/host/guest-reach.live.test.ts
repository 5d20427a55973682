import { open, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { newId } from '../../kernel/ids.ts';
import { isForeignPublicAddress } from '../../kernel/network/address-policy.ts';
import { createDial, type Dial } from '../../kernel/network/dial.ts';
import { openGitServer, type GitServer } from '../git/testing/git-server.ts';
import { hasImage, openQemu, type QemuUnderTest } from '../providers/qemu/testing-qemu.ts';
import type { LocalSandboxHost } from './local-sandbox-host.ts';
import { RealHost } from './testing-real-host.ts';

const STEP = { timeout: 600_000 };
/** Stands in for the internet: the only address that the test's policy adds. */
const INTERNET = '127.0.0.9';
const LEADS_TO: Record<string, string> = {
  'good.example': INTERNET,
  'loopback.example': '127.0.0.1',
  'private.example': '10.0.0.5',
  'link-local.example': '169.254.1.1',
  'metadata.example': '169.254.169.254',
  'mapped.example': '::ffff:127.0.0.1',
};
const NETWORK = { packageRegistries: false, hosts: Object.keys(LEADS_TO) };

let qemu: QemuUnderTest;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let git: GitServer;
let site: Server;
let real: RealHost;
let host: LocalSandboxHost;
const reached: string[] = [];

beforeAll(async () => {
  [qemu, database, git] = await Promise.all([openQemu(), createTestDatabase(), openGitServer()]);
  site = createServer((request, response) => {
    reached.push(`${request.headers.host} ${request.url}`);
    if (request.url === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    else response.end('hello from the internet');
  });
  // It listens everywhere: the host's own addresses would answer, were they let through.
  await new Promise<void>((resolve) => site.listen(0, '0.0.0.0', resolve));
  real = openHost((site.address() as AddressInfo).port);
  host = real.host;
  await host.start();
}, 600_000);
afterAll(async () => {
  await host?.stop(0);
  await qemu?.close();
  await new Promise((resolve) => site?.close(resolve));
  await git?.close();
  await database?.drop();
});

function openHost(port: number): RealHost {
  const strict = createDial({
    resolve: async (name) => [{ address: LEADS_TO[name] ?? '', family: 4 }],
    mayConnect: (address) => address === INTERNET || isForeignPublicAddress(address),
  });
  const toGit = createDial({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    mayConnect: (address) => address === '127.0.0.1',
  });
  const dial: Dial = (name) => strict(name, port);
  return new RealHost(qemu, database.database, {
    policyOf: async () => NETWORK,
    dial,
    dialPrivate: () => toGit('forge.example', git.port),
  });
}

/** Asks for a URL from inside the guest, by its proxy as every program does, and gives what came. */
const ASK = String.raw`
import sys, urllib.request, urllib.error
for url in sys.argv[1:]:
    try:
        with urllib.request.urlopen(url, timeout=20) as r: print(url, 200, r.read().decode())
    except urllib.error.HTTPError as e: print(url, e.code, e.reason)
    except Exception as e: print(url, 'failed', e)
`;
/** Tries to open connections past the proxy, by addresses that are some host's or another guest's. */
const DIRECT = String.raw`
import socket, sys
for target in sys.argv[1:]:
    host, port = target.rsplit(':', 1)
    try:
        socket.create_connection((host, int(port)), 3); print(target, 'REACHED')
    except Exception as e: print(target, 'failed')
`;

describe.skipIf(!hasImage)('from inside a guest', () => {
  it('an allowed host is reached, and nothing of this machine or its network by any way', STEP, async () => {
    const { sh, sandboxId, userId } = await real.acquire({ network: NETWORK });
    const python = (program: string, urls: string[]) =>
      sh(`python3 -c '${program.replaceAll("'", `'\\''`)}' ${urls.map((url) => `'${url}'`).join(' ')}`);
    const asked = await python(ASK, [
      'http://good.example/a',
      'http://good.example/redirect',
      'http://other.example/',
      'http://127.0.0.2/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::ffff:7f00:1]/',
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.5/',
      ...Object.keys(LEADS_TO)
        .slice(1)
        .map((name) => `http://${name}/`),
      'https://metadata.example/',
    ]);
    const lines = asked.text.trim().split('\n');
    expect(lines[0]).toBe('http://good.example/a 200 hello from the internet');
    for (const line of lines.slice(1)) expect(line).not.toContain(' 200 ');
    expect(lines).toHaveLength(15);
    expect(asked.text).toContain('other.example is not on the list of allowed hosts');
    expect(asked.text).toContain('metadata.example leads to an address that is not on the public internet');
    expect(reached).toEqual(['good.example /a', 'good.example /redirect']);
    const port = (site.address() as AddressInfo).port;
    const direct = await python(DIRECT, [
      `127.0.0.1:${port}`,
      `10.0.2.2:${port}`,
      `10.0.2.15:22`,
      `169.254.169.254:80`,
      `1.1.1.1:53`,
    ]);
    expect(direct.text).not.toContain('REACHED');
    // There is nothing to reach them with: no network card, no route.
    expect((await sh('ls /sys/class/net')).text.trim()).toBe('lo');
    expect((await sh('cat /proc/net/route')).text.trim().split('\n')).toHaveLength(1);
    await host.setNetworkPolicy(userId, { packageRegistries: false, hosts: [] });
    expect((await python(ASK, ['http://good.example/b'])).text).toContain('403');
    await host.forget(sandboxId, userId);
  });

  it(
    'git works with a key of which no byte is found in the guest, its disk or its memory',
    STEP,
    async () => {
      const { sh, sandboxId, userId } = await real.acquire({ network: NETWORK });
      await git.makeRepository('mine.git');
      const repository = `ssh://${git.user}@forge.example${join(git.folder, 'mine.git')}`;
      const refused = await sh(`git clone -q ${repository} w`);
      expect(refused).toMatchObject({ code: 128, text: expect.stringContaining('there is no deploy key') });
      await host.grantRepository(sandboxId, {
        repository,
        privateKey: git.privateKey,
        hostKeys: [git.hostKey],
        mayBePrivate: true,
      });
      expect(await sh(`git clone -q ${repository} w && cat w/README`)).toEqual({
        code: 0,
        text: 'this is mine.git\n',
      });
      const commit = 'cd w && echo x > x && git add x && git -c user.name=t -c user.email=t@t commit -qm x';
      expect((await sh(commit)).code).toBe(0);
      const push = 'cd w && git push -q origin HEAD:refs/heads/topic';
      expect(await sh(push)).toMatchObject({ text: expect.stringContaining('use the tool git_push') });
      const { withdraw } = await host.allowPush(sandboxId, repository, 120_000);
      expect(await sh(push)).toMatchObject({ code: 0 });
      await withdraw();
      expect((await sh('cd w && git push -q origin HEAD:refs/heads/other')).code).toBe(128);
      expect(await git.git('-C', join(git.folder, 'mine.git'), 'branch', '--list')).toContain('topic');

      const canary = `canary-${newId()}`;
      await sh(`echo ${canary} > seen; sync`);
      const told = await sh(
        'env; cat ~/.bash_history ~/.ssh/* 2>/dev/null; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"',
      );
      await host.snapshot(sandboxId, userId);
      const lines = git.privateKey.split('\n').slice(2, 5);
      const needles: Buffer[] = [canary, ...lines].map((text) => Buffer.from(text));
      needles.push(seedOf(git.privateKey));
      for (const line of lines) expect(told.text).not.toContain(line);
      const [isCanaryThere, ...areKeysThere] = await findAll(qemu.root, needles);
      expect(isCanaryThere).toBe(true);
      expect(areKeysThere).toEqual(needles.slice(1).map(() => false));
      await host.forget(sandboxId, userId);
    },
  );
});

/** The secret number of an ed25519 key in OpenSSH's form: what a copy in memory would hold, whatever it is wrapped in. */
function seedOf(privateKey: string): Buffer {
  const body = Buffer.from(privateKey.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  // The private part holds the public key (its length and 32 bytes), then 64 bytes: the seed and the public key again.
  const at = body.lastIndexOf(Buffer.from([0, 0, 0, 64]));
  return body.subarray(at + 4, at + 36);
}

/** Whether each is in any file below the folder: disks, memory and states of machines. */
async function findAll(folder: string, needles: Buffer[]): Promise<boolean[]> {
  const found = needles.map(() => false);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = await open(join(entry.parentPath, entry.name));
    const part = Buffer.alloc(4 * 1024 * 1024);
    try {
      // Parts overlap, so that nothing is missed at a border.
      for (let at = 0; ; at += part.length - 256) {
        const { bytesRead } = await file.read(part, 0, part.length, at);
        const bytes = part.subarray(0, bytesRead);
        for (const [n, needle] of needles.entries()) found[n] ||= bytes.includes(needle);
        if (bytesRead < part.length) break;
      }
    } finally {
      await file.close();
    }
  }
  return found;
}
