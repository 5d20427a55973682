import type { GuestSession } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';

const NOTICE = 'Not shown in the sandbox: /home/ana/gone: it does not exist';

const look = defineTool({
  name: 'look',
  description: 'Looks around in the guest.',
  input: z.object({ fails: z.boolean().optional() }),
  domain: 'system',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 5_000,
  run: async ({ fails }, context) => {
    await context.claimGuest();
    if (fails === true) throw new Error('broken');
    return { status: 'ok', text: 'looked' };
  },
});

describe('what a guest lacks that the user expects of it', () => {
  let h: RunHarness;
  beforeAll(async () => {
    const guest = { id: 'g', kind: 'process-sandbox', home: '/home/user' } as GuestSession;
    h = await createRunHarness({ tools: [look], guest, guestNotices: [NOTICE] });
  });
  afterAll(() => h.drop());

  const runCalls = async (inputs: object[]) => {
    let step = 0;
    h.setModels([
      functionModel(() => {
        const args = inputs[step];
        step += 1;
        return args === undefined
          ? turn({ text: 'done' })
          : turn({ calls: [{ id: `c${step}`, tool: 'look', args }] });
      }),
    ]);
    const { taskId } = await h.start('look twice');
    await h.run(taskId);
    const events = await h.events(taskId);
    const of = (type: string) =>
      events.filter((event) => event.type === type).map((event) => event.payload as { text: string });
    return { results: of('tool.called').map(({ text }) => text), notes: of('tool.progress') };
  };

  it('is shown to the person and told to the model with the first call, once a run', async () => {
    const { results, notes } = await runCalls([{}, {}]);
    expect(results).toEqual([`looked\n\n[${NOTICE}]`, 'looked']);
    expect(notes).toMatchObject([{ stream: 'note', text: `${NOTICE}\n` }]);
  });

  it('is told also when the first call fails', async () => {
    const { results } = await runCalls([{ fails: true }, {}]);
    expect(results).toEqual([`look failed: broken\n\n[${NOTICE}]`, 'looked']);
  });
});
