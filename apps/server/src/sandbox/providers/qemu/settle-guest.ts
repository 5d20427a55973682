import { randomBytes } from 'node:crypto';
import { AgentConnection } from '../../guest/agent/agent-connection.ts';
import { FLAG } from '../../guest/agent/frame-types.ts';
import { CommandRun } from '../../guest/agent/guest-command.ts';
import { ProviderError, type Vm } from '../sandbox-provider.ts';

/** The image's file system is as large as the recipe says; this makes it as large as the machine's disk. */
const GROW = {
  flags: FLAG.root,
  record: '',
  cwd: Buffer.from('/'),
  argv: ['/sbin/resize2fs', '/dev/vda'],
  env: [],
};
/** Calling a shell once brings it from the disk into memory, where each machine that starts from there has it. */
const FIRST_COMMAND = {
  flags: 0,
  record: '',
  cwd: Buffer.from('/'),
  argv: ['/bin/sh', '-c', 'true'],
  env: [],
};

/** Makes the file system of a machine that has booted as large as its disk. @throws ProviderError */
export async function growRoot(vm: Vm): Promise<void> {
  const connection = await AgentConnection.open(await vm.connectAgent());
  try {
    const command = new CommandRun(connection, { ...GROW, timeoutMs: 60_000 }, async () => undefined);
    const { exitCode } = await command.wait();
    if (exitCode !== 0)
      throw new ProviderError('start-failed', `Its disk could not be made larger (${exitCode}).`);
  } finally {
    connection.close();
  }
}

/**
 * Makes sure that the guest's agent answers, has it do once what each machine does first, and leaves nothing of its
 * file systems only in its memory. What it is told here is told anew to every machine that starts from it.
 */
export async function settleGuest(vm: Vm): Promise<void> {
  try {
    const connection = await AgentConnection.open(await vm.connectAgent());
    const machineId = randomBytes(16).toString('hex');
    await connection.resume({ entropy: randomBytes(64), machineId, hostKey: '', authorizedKeys: '' });
    await new CommandRun(connection, { ...FIRST_COMMAND, timeoutMs: 60_000 }, async () => undefined).wait();
    await connection.sync();
    connection.close();
  } catch (error) {
    throw new ProviderError('start-failed', `The guest's agent does not answer: ${(error as Error).message}`);
  }
}
