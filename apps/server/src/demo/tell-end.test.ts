import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { tellEnd } from './tell-end.ts';

const ID = '0198a000-0000-7000-8000-000000000000';

async function tell(follow: () => AsyncGenerator<EventEnvelope>, signal = new AbortController().signal) {
  const lines: string[] = [];
  await tellEnd({ followTask: follow }, ID, { signal, write: (line) => void lines.push(line) });
  return lines;
}

async function* fail(): AsyncGenerator<EventEnvelope> {
  throw new Error('the server answered with status 502');
}

describe('the end of a demo that is watched', () => {
  it('is told by the journals', async () => {
    const lines = await tell(async function* () {
      yield {
        position: 1,
        taskId: ID,
        seq: 1,
        type: 'task.cancelled',
        at: '2026-01-01T00:00:00Z',
        payload: { by: 'user' },
      };
    });
    expect(lines).toEqual([
      expect.stringMatching(/^✖ The demo did not end as it should: the task was cancelled; /),
    ]);
  });

  it('says why when it cannot be told', async () => {
    expect(await tell(fail)).toEqual(['How it ended cannot be told: the server answered with status 502']);
  });

  it('is no news to who has stopped it', async () => {
    expect(await tell(fail, AbortSignal.abort(130))).toEqual([]);
  });
});
