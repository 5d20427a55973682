import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { createDial } from '../../kernel/network/dial.ts';
import { hasDeveloperImage, openQemu, type QemuUnderTest } from '../providers/qemu/testing-qemu.ts';
import { RealHost } from './testing-real-host.ts';

const STEP = { timeout: 600_000 };
const SIZES = { memoryMib: 1024, cpus: 2, diskGib: 8 };
const ALLOWED = { packageRegistries: true, hosts: [] };

let qemu: QemuUnderTest;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let real: RealHost;
let registry: Server;
let folder: string;
const asked: string[] = [];

/** The registries' names lead to this server, which has one package of each kind, in the form that each of them takes. */
beforeAll(async () => {
  if (!hasDeveloperImage) return;
  folder = await mkdtemp(join(tmpdir(), 'vitto-registry-'));
  const files = await makePackages(folder);
  registry = createServer((request, response) => {
    const host = request.headers.host ?? '';
    // apt asks for `./NAME`.
    const path = `${host}${request.url?.replaceAll('/./', '/')}`;
    asked.push(path);
    const body = files.get(path);
    if (body === undefined) response.writeHead(404).end();
    else {
      const type = path.includes('/simple/') ? 'text/html' : 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
    }
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  const here = createDial({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    mayConnect: (address) => address === '127.0.0.1',
  });
  [qemu, database] = await Promise.all([openQemu('developer'), createTestDatabase()]);
  real = new RealHost(qemu, database.database, {
    sizes: SIZES,
    policyOf: async () => ALLOWED,
    dial: (name) => here(name, port),
  });
  await real.host.start();
}, 600_000);
afterAll(async () => {
  await real?.host.stop(0);
  await qemu?.close();
  await new Promise((resolve) => (registry === undefined ? resolve(null) : registry.close(resolve)));
  await database?.drop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** What is served, by host and path. */
async function makePackages(at: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  await mkdir(join(at, 'package'));
  await writeFile(
    join(at, 'package/package.json'),
    '{"name":"vitto-probe","version":"1.2.3","main":"index.js"}',
  );
  await writeFile(join(at, 'package/index.js'), "module.exports = 'from npm';\n");
  execFileSync('tar', ['czf', 'probe.tgz', 'package'], { cwd: at });
  const tarball = await readFile(join(at, 'probe.tgz'));
  const npm = 'registry.npmjs.org';
  files.set(`${npm}/vitto-probe/-/vitto-probe-1.2.3.tgz`, tarball);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `http://${npm}/vitto-probe/-/vitto-probe-1.2.3.tgz`, integrity };
  const version = { name: 'vitto-probe', version: '1.2.3', dist };
  const document = { name: 'vitto-probe', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } };
  files.set(`${npm}/vitto-probe`, Buffer.from(JSON.stringify(document)));

  await mkdir(join(at, 'wheel/vitto_probe-1.0.dist-info'), { recursive: true });
  await writeFile(join(at, 'wheel/vitto_probe.py'), "WORD = 'from pip'\n");
  const info = join(at, 'wheel/vitto_probe-1.0.dist-info');
  await writeFile(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: vitto-probe\nVersion: 1.0\n');
  await writeFile(join(info, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  await writeFile(join(info, 'RECORD'), 'vitto_probe.py,,\n');
  execFileSync('python3', ['-m', 'zipfile', '-c', '../vitto_probe-1.0-py3-none-any.whl', '.'], {
    cwd: join(at, 'wheel'),
  });
  const wheel = 'vitto_probe-1.0-py3-none-any.whl';
  files.set(`files.pythonhosted.org/${wheel}`, await readFile(join(at, wheel)));
  files.set(
    'pypi.org/simple/vitto-probe/',
    Buffer.from(`<a href="http://files.pythonhosted.org/${wheel}">${wheel}</a>`),
  );

  await mkdir(join(at, 'deb/DEBIAN'), { recursive: true });
  await mkdir(join(at, 'deb/opt'));
  await writeFile(join(at, 'deb/opt/vitto-probe'), 'from apt\n');
  const control =
    'Package: vitto-probe\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@t>\nDescription: t\n';
  await writeFile(join(at, 'deb/DEBIAN/control'), control);
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', 'deb', 'probe.deb'], { cwd: at });
  const deb = await readFile(join(at, 'probe.deb'));
  const sha256 = createHash('sha256').update(deb).digest('hex');
  files.set('deb.debian.org/probe/probe.deb', deb);
  const list = `${control}Filename: ./probe.deb\nSize: ${deb.length}\nSHA256: ${sha256}\n`;
  files.set('deb.debian.org/probe/Packages', Buffer.from(list));
  return files;
}

describe.skipIf(!hasDeveloperImage)('package managers in a guest', () => {
  it(
    'install from their registries as they are, and say why not when those are not allowed',
    STEP,
    async () => {
      const { sh, userId, sandboxId } = await real.acquire({ network: ALLOWED });
      const apt = [
        `echo 'deb [trusted=yes] http://deb.debian.org/probe ./' | sudo tee /etc/apt/sources.list >/dev/null`,
        'sudo rm -f /etc/apt/sources.list.d/*',
        'sudo apt-get -qq update && sudo apt-get -qq install vitto-probe >/dev/null && cat /opt/vitto-probe',
      ].join('\n');
      expect(await sh(apt)).toMatchObject({ code: 0, text: expect.stringContaining('from apt\n') as string });
      const pip =
        'pip install -q --break-system-packages --index-url http://pypi.org/simple --trusted-host pypi.org --trusted-host files.pythonhosted.org vitto-probe && python3 -c "import vitto_probe; print(vitto_probe.WORD)"';
      expect(await sh(pip)).toMatchObject({ code: 0, text: expect.stringContaining('from pip\n') as string });
      const npm =
        'mkdir -p p && cd p && npm install --silent --registry http://registry.npmjs.org vitto-probe && node -p "require(\'vitto-probe\')"';
      expect(await sh(npm, 300_000)).toMatchObject({
        code: 0,
        text: expect.stringContaining('from npm\n') as string,
      });
      expect(new Set(asked.map((one) => one.split('/')[0]))).toEqual(
        new Set(['deb.debian.org', 'pypi.org', 'files.pythonhosted.org', 'registry.npmjs.org']),
      );
      await real.host.setNetworkPolicy(userId, { packageRegistries: false, hosts: [] });
      asked.length = 0;
      const refused = await sh(
        'sudo apt-get update; pip download --retries 0 -q --index-url http://pypi.org/simple x',
      );
      expect(refused.text).toContain('403');
      expect(asked).toEqual([]);
      await real.host.forget(sandboxId, userId);
    },
  );
});
