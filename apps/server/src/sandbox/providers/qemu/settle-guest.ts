import { AgentConnection } from '../../guest/agent/agent-connection.ts';
import { ProviderError, type Vm } from '../sandbox-provider.ts';

/** Makes sure that the guest's agent answers and that nothing of its file systems is only in its memory. */
export async function settleGuest(vm: Vm): Promise<void> {
  try {
    const connection = await AgentConnection.open(await vm.connectAgent());
    await connection.sync();
    connection.close();
  } catch (error) {
    throw new ProviderError('start-failed', `The guest's agent does not answer: ${(error as Error).message}`);
  }
}
