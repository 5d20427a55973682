import type { DemoClient } from './demo-client.ts';
import { followDemo } from './follow-demo.ts';
import { judgeDemo } from './judge-demo.ts';
import { toPlainText } from './plain-text.ts';
import { tellVerdict } from './tell-verdict.ts';

/** Says what the journals show of a demo once it has ended; nothing when the signal comes before. Never throws. */
export async function tellEnd(
  client: Pick<DemoClient, 'followTask'>,
  id: string,
  { signal, write }: { signal: AbortSignal; write: (line: string) => void },
): Promise<void> {
  try {
    const events = await followDemo(client, id, { signal, hear: () => undefined });
    tellVerdict(judgeDemo(events, id), write);
  } catch (error) {
    // Whoever watches goes on without it.
    if (!signal.aborted) write(`How it ended cannot be told: ${toPlainText((error as Error).message)}`);
  }
}
