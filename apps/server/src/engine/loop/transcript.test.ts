import { describe, expect, it } from 'vitest';
import type { FoldEvent } from './task-journal.ts';
import { Transcript } from './transcript.ts';

/** A random but possible journal of one task: turns with calls, results in any order, messages at any moment. */
function makeJournal(seed: number): FoldEvent[] {
  let state = seed;
  const random = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % n;
  };
  const events: FoldEvent[] = [];
  const add = (type: string, payload: Record<string, unknown>) => {
    const seq = events.length + 1;
    events.push({ taskId: 't', seq, position: seq * 2, type, payload });
    return seq;
  };
  let inputSeq = add('user.message', { messageId: 'm0', text: 'begin', source: 'web' });
  const maybeSay = () => {
    if (random(4) === 0)
      inputSeq = add('user.message', {
        messageId: `m${events.length}`,
        text: `say ${events.length}`,
        source: 'web',
      });
  };
  for (let turn = 1; turn <= 12; turn += 1) {
    add('agent.iteration', { iteration: turn, turn, inputSeq });
    maybeSay();
    const ids = Array.from({ length: random(4) }, (_, index) => `c${turn}_${index}`);
    const calls = ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'x', input: {} }));
    add('agent.turn_completed', {
      turn,
      message: { role: 'assistant', content: [{ type: 'text', text: `turn ${turn}` }, ...calls] },
    });
    for (const callId of ids.sort(() => random(3) - 1)) {
      maybeSay();
      add('tool.called', { callId, turn, tool: 'x', status: 'ok', text: 'r'.repeat(50 + random(400)) });
    }
  }
  return events;
}

function fold(events: FoldEvent[]): Transcript {
  const transcript = new Transcript();
  for (const event of events) transcript.apply(event);
  return transcript;
}

function checkPairs(transcript: Transcript): void {
  const messages = transcript.messages();
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      const before = messages[index - 1];
      expect(before?.role).toBe('assistant');
      const calls =
        before?.role === 'assistant'
          ? before.content.flatMap((p) => (p.type === 'tool-call' ? [p.toolCallId] : []))
          : [];
      expect(message.content.map((part) => (part.type === 'tool-result' ? part.toolCallId : ''))).toEqual(
        calls,
      );
    }
    if (message.role === 'assistant' && message.content.some((part) => part.type === 'tool-call')) {
      expect(messages[index + 1]?.role).toBe('tool');
    }
  });
}

describe('a transcript', () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed + 1))(
    'is the same whole after a cut, live and folded anew (seed %i)',
    (seed) => {
      const events = makeJournal(seed);
      const last = events.findLastIndex((event) => event.type === 'agent.iteration');
      const lived = events.slice(0, last + 1);
      const live = fold(lived);
      checkPairs(live);
      const cut = live.findCut(800 + (seed % 5) * 700);
      if (cut === null) return;
      const compaction: FoldEvent = {
        taskId: 't',
        seq: lived.length + 1,
        position: 10_000,
        type: 'phase.completed',
        payload: { phase: 'compaction', summary: 'in short', throughPosition: cut.throughPosition },
      };
      live.apply(compaction);
      checkPairs(live);
      const anew = fold([...lived.filter((event) => event.position > cut.throughPosition), compaction]);
      checkPairs(anew);
      expect(anew.messages()).toEqual(live.messages());
      // Nothing that the user said is lost: it was cut, or it stays.
      const text = JSON.stringify([cut.cut, live.messages()]);
      for (const event of lived) {
        const isRead =
          event.type === 'user.message' && event.seq <= Number(events[last]?.payload['inputSeq']);
        if (isRead) expect(text).toContain(String(event.payload['text']));
      }
      expect(anew.hasUnread).toBe(live.hasUnread);
    },
  );

  it('takes a message that is read twice once', () => {
    const [message] = makeJournal(1);
    if (message === undefined) throw new Error('no message');
    const transcript = fold([message, message]);
    transcript.apply({
      taskId: 't',
      seq: 2,
      position: 4,
      type: 'agent.iteration',
      payload: { iteration: 1, turn: 1, inputSeq: 1 },
    });
    expect(transcript.messages()).toHaveLength(1);
  });

  it('says with the next turn what a turn that a crash cut off was to say', () => {
    const [message] = makeJournal(1);
    if (message === undefined) throw new Error('no message');
    const note = (seq: number, notes: string[]): FoldEvent => ({
      taskId: 't',
      seq,
      position: seq * 2,
      type: 'agent.iteration',
      payload: { iteration: seq, turn: 1, inputSeq: 1, notes },
    });
    const transcript = fold([message, note(2, ['80 % used']), note(3, [])]);
    expect(JSON.stringify(transcript.messages())).toContain('80 % used');
  });
});
