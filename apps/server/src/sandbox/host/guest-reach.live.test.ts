import { EventEmitter, once } from 'node:events';
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
import { RealHost, type Acquired } from './testing-real-host.ts';

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
/** Says that a request that is not answered has come. */
const held = new EventEmitter();

beforeAll(async () => {
  [qemu, database, git] = await Promise.all([openQemu(), createTestDatabase(), openGitServer()]);
  site = createServer((request, response) => {
    reached.push(`${request.method} ${request.headers.host} ${request.url}`);
    if (request.url === '/hold') held.emit('request');
    else if (request.url === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    else response.end('hello from the internet');
  });
  site.on('upgrade', (request, socket) => {
    reached.push(`upgrade ${request.headers.host}`);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
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
/** Says each argument to the proxy as it is (`|` ends a line, `~` waits for an answer), and gives the first lines of what comes. */
const SAY = String.raw`
import socket, sys
for text in sys.argv[1:]:
    s = socket.create_connection(('127.0.0.1', 3128), 20)
    answers = []
    for part in text.split('~'):
        s.sendall(part.replace('|', '\r\n').encode())
        answers.append(s.recv(65536).split(b'\r\n')[0].decode())
    print(text.split('|')[0], '->', '; '.join(answers))
    s.close()
`;
const SERVE = String.raw`
import socketserver
server = socketserver.ThreadingTCPServer(('0.0.0.0', 8000), socketserver.BaseRequestHandler)
open('/tmp/serving', 'w')
server.serve_forever()
`;
const python = ({ sh }: Acquired, program: string, args: string[]) =>
  sh([`python3 -c ${quote(program)}`, ...args.map(quote)].join(' '));
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

describe.skipIf(!hasImage)('from inside a guest', () => {
  it('an allowed host is reached, and nothing of this machine or its network by any way', STEP, async () => {
    const machine = await real.acquire({ network: NETWORK });
    const { sh, sandboxId, userId } = machine;
    const asked = await python(machine, ASK, [
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
    expect(reached).toEqual(['GET good.example /a', 'GET good.example /redirect']);
    const port = (site.address() as AddressInfo).port;
    const direct = await python(machine, DIRECT, [
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
    expect((await python(machine, ASK, ['http://good.example/b'])).text).toContain('403');
    await host.forget(sandboxId, userId);
  });

  it(
    'other ports, methods and protocols get where the list and the web let them, and no further',
    STEP,
    async () => {
      const machine = await real.acquire({ network: NETWORK });
      reached.length = 0;
      const upgrade =
        'Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Version: 13|Sec-WebSocket-Key: x||';
      const said = await python(machine, SAY, [
        'CONNECT good.example:22 HTTP/1.1||',
        'CONNECT good.example:8080 HTTP/1.1||',
        'CONNECT 127.0.0.1:443 HTTP/1.1|Host: good.example:443||',
        'CONNECT [::ffff:7f00:1]:443 HTTP/1.1||',
        'CONNECT 2130706433:443 HTTP/1.1||',
        'CONNECT loopback.example:443 HTTP/1.1||',
        'DELETE http://other.example/ HTTP/1.1|Host: good.example||',
        `GET http://other.example/ HTTP/1.1|Host: good.example|${upgrade}`,
        `GET /ws HTTP/1.1|Host: good.example|${upgrade}`,
        'DELETE http://good.example/d HTTP/1.1|Host: 127.0.0.1||',
        `GET http://good.example/ws HTTP/1.1|Host: good.example|${upgrade}`,
        `CONNECT good.example:443 HTTP/1.1||~GET /ws HTTP/1.1|Host: good.example|${upgrade}`,
      ]);
      const answers = said.text.trim().split('\n');
      expect(answers).toHaveLength(12);
      for (const answer of answers.slice(0, 9)) expect(answer).toContain('-> HTTP/1.1 403 ');
      expect(answers[0]).toContain('port 22 is not one of the web');
      // A plain request is never more than a request; a tunnel to a host that is allowed carries what it likes.
      expect(answers[9]).toMatch(/-> HTTP\/1\.1 200 OK$/);
      expect(answers[10]).toMatch(/-> HTTP\/1\.1 200 OK$/);
      expect(answers[11]).toMatch(/200 Connection established; HTTP\/1\.1 101 /);
      expect(reached).toEqual(['DELETE good.example /d', 'GET good.example /ws', 'upgrade good.example']);
      await real.host.forget(machine.sandboxId, machine.userId);
    },
  );

  it(
    "another user's machine is not reached and has a list of its own; a list that changes cuts what is open",
    STEP,
    async () => {
      const [ana, ben] = await Promise.all([real.acquire({ network: NETWORK }), real.acquire()]);
      // A process of its own: what a command leaves running ends with it.
      await ben.guest.startProcess({ command: `exec python3 -c ${quote(SERVE)}` });
      await ben.sh('until test -e /tmp/serving; do sleep 0.1; done');
      expect((await python(ben, DIRECT, ['127.0.0.1:8000'])).text).toContain('REACHED');
      const around = ['127.0.0.1', '127.0.0.2', '10.0.2.2', '10.0.2.15', '192.168.0.1', '[::1]'];
      const direct = await python(
        ana,
        DIRECT,
        around.map((address) => `${address.replace(/[[\]]/g, '')}:8000`),
      );
      expect(direct.text.match(/failed/g)).toHaveLength(around.length);
      const asked = await python(
        ana,
        ASK,
        around.map((address) => `http://${address}:8000/`),
      );
      // What is for the guest itself goes past the proxy, and ends there.
      expect(asked.text).not.toContain(' 200 ');
      expect(asked.text.match(/ 403 /g)).toHaveLength(around.length - 1);

      const open = once(held, 'request');
      const tunnel = python(ana, SAY, [
        'CONNECT good.example:443 HTTP/1.1||~GET /hold HTTP/1.1|Host: good.example||',
      ]);
      await open;
      expect((await python(ben, ASK, ['http://good.example/'])).text).toContain('not on the list');
      await real.host.setNetworkPolicy(ben.userId, NETWORK);
      expect((await python(ben, ASK, ['http://good.example/'])).text).toContain('200 hello');
      await real.host.setNetworkPolicy(ana.userId, { packageRegistries: false, hosts: [] });
      // It ends without an answer, while what the other user may has not changed.
      expect((await tunnel).text.trim()).toMatch(/200 Connection established; $|established;$/);
      expect((await python(ana, ASK, ['http://good.example/'])).text).toContain('not on the list');
      expect((await python(ben, ASK, ['http://good.example/'])).text).toContain('200 hello');
      await Promise.all([ana, ben].map((one) => real.host.forget(one.sandboxId, one.userId)));
    },
  );

  it(
    'git works with a key of which no byte is found in the guest, its disk or its memory',
    STEP,
    async () => {
      const { sh, sandboxId, userId } = await real.acquire({ network: NETWORK });
      await git.makeRepository('mine.git');
      await git.makeRepository('other.git');
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
      const sideways: [string, string][] = [
        [`git clone -q ${repository.replace('mine', 'other')} o`, 'there is no deploy key'],
        [`git clone -q ${repository.replace('forge.example', '127.0.0.1')} o`, 'there is no deploy key'],
        [`git archive --remote=${repository} HEAD`, 'only fetching and pushing'],
        [`git clone -q --upload-pack='touch /tmp/taken;git-upload-pack' ${repository} o`, 'only fetching'],
        [`git clone -q '${repository}/../other.git' o`, 'not the address of a repository'],
        [`git clone -q 'ssh://-oProxyCommand=touch%20x/a' o`, 'strange hostname'],
        [`$(git config core.sshCommand) -oProxyCommand=x forge.example "git-upload-pack 'a'"`, 'ssh options'],
        [`$(git config core.sshCommand) forge.example id`, 'only fetching and pushing'],
      ];
      for (const [command, why] of sideways) {
        const { code, text } = await sh(command);
        expect([command, code === 0, text]).toEqual([command, false, expect.stringContaining(why)]);
      }

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
