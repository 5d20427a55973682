import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ImageStore } from '../../images/image-store.ts';
import { QemuProvider } from '../../providers/qemu/qemu-provider.ts';
import type { Vm } from '../../providers/sandbox-provider.ts';
import { makeGuestIdentity } from '../../sessions/session-agent.ts';
import { describeGuestSession } from '../guest-session.contract.ts';
import { AgentConnection } from './agent-connection.ts';
import { AgentGuestSession } from './agent-guest-session.ts';

/** Built by `vitto image build minimal`: two minutes that this test does not take. */
const [image] = await new ImageStore('/var/cache/vitto/images').list('minimal');

describe.skipIf(image === undefined)('in a machine (needs the image "minimal")', () => {
  const root = mkdtempSync('/var/tmp/vitto-guest-test-');
  chmodSync(root, 0o711);
  const provider = new QemuProvider({ root, findImage: async () => image ?? null });
  const machineFolder = join(root, 'machines/one');
  const vmId = crypto.randomUUID();
  let vm: Vm | null = null;
  let connection: AgentConnection | null = null;

  async function open(): Promise<AgentGuestSession> {
    if (image === undefined) throw new Error('there is no image');
    const size = { memoryMib: 512, cpus: 2, diskGib: 4 };
    vm ??= await provider.create({
      vmId,
      machineFolder,
      image,
      ...size,
      userNumber: randomBytes(2).readUInt16LE(),
    });
    connection = await AgentConnection.open(await vm.connectAgent(), { limitMs: 120_000 });
    await connection.resume({ ...makeGuestIdentity(), authorizedKeys: '' });
    return new AgentGuestSession(connection, { id: vmId, taskId: 'task' });
  }
  afterAll(async () => {
    connection?.close();
    await provider.destroy(vmId);
    rmSync(root, { recursive: true, force: true });
  });

  describeGuestSession('the agent in a machine', { open, close: async () => connection?.close() });

  it('is reached again by a new connection, and knows the processes from before', async () => {
    const { processId } = await (await open()).startProcess({ command: 'echo up; sleep 600' });
    connection?.close();
    const again = await open();
    const read = () => again.readProcess({ processId });
    await expect.poll(read).toMatchObject({ running: true, text: 'up\n' });
    expect(await again.stopProcess({ processId })).toMatchObject({ running: false });
  });
});
