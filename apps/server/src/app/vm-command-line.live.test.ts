import { spawn } from 'node:child_process';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SandboxOverview, Task } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kernel/database/testing.ts';
import {
  openClient,
  removeTestFolder,
  startVittoProcess,
  type VittoProcess,
} from './testing/vitto-process.ts';

const IMAGES = '/var/cache/vitto/images';
const CLI = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

/** `vitto vm …` as a person types it, with a real server, a real VM and a real ssh. */
describe('the machines of a person at the command line', () => {
  let folder: string;
  let home: string;
  let server: VittoProcess | null = null;
  let drop: () => Promise<void>;
  let hasImage = false;

  beforeAll(async () => {
    hasImage = (await readdir(join(IMAGES, 'minimal')).catch(() => [])).some((name) =>
      /^[0-9a-f]{64}$/.test(name),
    );
    folder = await mkdtemp(join(tmpdir(), 'vitto-vm-cli-'));
    home = join(folder, 'home');
    const database = await createTestDatabase();
    drop = database.drop;
    if (!hasImage) return;
    server = await startVittoProcess({
      DATABASE_URL: database.url,
      VITTO_HOME: home,
      HOME: folder,
      VITTO_IMAGES: IMAGES,
      VITTO_VM_PROVIDER: 'qemu',
      VITTO_VM_DEGRADE: 'never',
      VITTO_VM_DEVELOPER_TEMPLATE: 'minimal',
      VITTO_VM_MEMORY_MIB: '256',
    });
  });
  afterAll(async () => {
    await server?.end('SIGTERM');
    await drop();
    await removeTestFolder(folder, home);
  });

  const vitto = async (args: string[], input = '') => {
    const env = { PATH: process.env['PATH'] ?? '', VITTO_HOME: home, HOME: folder, TMPDIR: folder };
    const child = spawn(process.execPath, [CLI, 'vm', ...args], { env });
    child.stdin.on('error', () => undefined).end(input);
    const code = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { stdout, stderr, code: await code };
  };

  it('runs commands, opens a shell, suspends, comes back with its files, and ends', async (context) => {
    context.skip(!hasImage, `there is no image in ${IMAGES}: vitto image build minimal`);
    const { call } = await openClient(server?.url ?? '', home);
    const script = join(folder, 'script.yaml');
    await writeFile(
      script,
      'turns:\n  - calls: [{ tool: run_command, arguments: { command: "true" } }]\n  - text: Done.\n',
    );
    const { body: task } = await call<Task>('POST', '/api/tasks', {
      prompt: 'work in a VM',
      model: `script:${script}`,
    });
    const state = async () => (await call<Task>('GET', `/api/tasks/${task.id}`)).body.state;
    await expect.poll(state, { timeout: 240_000, interval: 200 }).toBe('completed');

    const outputs = 'echo out; echo err >&2; id -un; exit 3';
    expect(await vitto(['exec', '--', outputs])).toEqual({ code: 3, stdout: 'out\nuser\n', stderr: 'err\n' });
    expect(await vitto(['exec', '--', 'sh', '-c', 'echo "$1"', 'x', "it's $HOME"])).toMatchObject({
      stdout: "it's $HOME\n",
    });
    expect(await vitto(['exec', '-i', '--', 'cat > kept; wc -c < kept'], 'ñu')).toMatchObject({
      stdout: '3\n',
    });

    expect(await vitto(['ssh', '--', 'cat kept; exit 5'])).toEqual({ code: 5, stdout: 'ñu', stderr: '' });
    const bytes = await vitto(['ssh', '--', 'wc -c'], 'x'.repeat(300_000));
    expect(bytes).toMatchObject({ code: 0, stdout: '300000\n' });
    expect((await readdir(folder)).filter((name) => name.startsWith('vitto-ssh-'))).toEqual([]);

    expect(await vitto(['snapshot'])).toMatchObject({ code: 0 });
    const machines = async () => (await call<SandboxOverview>('GET', '/api/sandbox')).body.sandboxes;
    expect(await machines()).toMatchObject([{ state: 'suspended', snapshot: { isUsable: true } }]);
    expect(await vitto(['ssh', '--', 'cat kept'])).toMatchObject({ code: 0, stdout: 'ñu' });
    expect((await vitto(['ls'])).stdout).toContain('restored from your snapshot in ');

    expect(await vitto(['destroy', '--forget'])).toMatchObject({ code: 5 });
    expect(await vitto(['destroy', '--forget', '--yes'])).toMatchObject({ code: 0 });
    expect(await machines()).toEqual([]);
  });
});
