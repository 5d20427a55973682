import { randomBytes } from 'node:crypto';
import { AgentConnection } from '../../guest/agent/agent-connection.ts';
import { CommandRun } from '../../guest/agent/guest-command.ts';
import { ProviderError, type Vm } from '../sandbox-provider.ts';

/** Calling a shell once brings it from the disk into memory, where each machine that starts from there has it. */
const FIRST_COMMAND = {
  flags: 0,
  record: '',
  cwd: Buffer.from('/'),
  argv: ['/bin/sh', '-c', 'true'],
  env: [],
};

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
