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

/** A conversation's journal, written as it reads. */
function journal() {
  const events: FoldEvent[] = [];
  let inputSeq = 0;
  const add = (type: string, payload: Record<string, unknown>, taskId = 't') => {
    const seq = events.length + 1;
    events.push({ taskId, seq, position: seq, type, payload });
    return seq;
  };
  const self = {
    events,
    say: (messageId: string, more: Record<string, unknown> = {}) => {
      inputSeq = add('user.message', { messageId, text: messageId, source: 'web', ...more });
      return self;
    },
    turn: (text: string, result?: Record<string, unknown>) => {
      add('agent.iteration', { iteration: 1, turn: 1, inputSeq });
      const callId = `c${events.length}`;
      const call = { type: 'tool-call', toolCallId: callId, toolName: 'x', input: {} };
      const content = [{ type: 'text', text }, ...(result === undefined ? [] : [call])];
      add('agent.turn_completed', { turn: 1, message: { role: 'assistant', content } });
      if (result !== undefined) {
        add('tool.called', { callId, turn: 1, tool: 'x', status: 'ok', text: `${text} result`, ...result });
      }
      return self;
    },
    end: () => {
      add('task.completed', { result: 'done' });
      return self;
    },
    add: (type: string, payload: Record<string, unknown>) => {
      add(type, payload);
      return self;
    },
  };
  return self;
}
/** The texts of a transcript in a line each. */
function linesOf(transcript: Transcript): string[] {
  return transcript.messages().map((message) => {
    if (typeof message.content === 'string') return message.content;
    return message.content
      .map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? part.filename : part.type))
      .join(' + ');
  });
}
const FILE = { id: 'f', name: 'a.txt', mediaType: 'text/plain', bytes: 1_000 };

describe('a message that stands in for an earlier one', () => {
  it('drops that one and all that followed, and nothing before', () => {
    const told = journal().say('one').turn('1').end().say('two').turn('2', {}).turn('3').end();
    const edited = told.say('two better', { replaces: 'two' }).turn('4');
    expect(linesOf(fold(edited.events))).toEqual(['one', '1', 'two better', '4']);
  });

  it('may be the first, may be replaced again, and leaves the estimates as if nothing had been', () => {
    const told = journal().say('one').turn('1', {}).end().say('uno', { replaces: 'one' }).turn('2').end();
    const again = fold(told.say('eins', { replaces: 'uno' }).turn('3').events);
    const plain = fold(journal().say('eins').turn('3').events);
    expect(again.messages()).toEqual(plain.messages());
    expect(again.bytes).toBe(plain.bytes);
  });

  it('drops the note about a failure, and a message that steered with what followed only', () => {
    const told = journal()
      .say('one')
      .turn('1', {})
      .say('steer')
      .turn('2')
      .add('task.failed', { error: { message: 'x' } });
    expect(linesOf(fold(told.say('better', { replaces: 'steer' }).turn('3').events))).toEqual([
      'one',
      '1 + tool-call',
      'tool-result',
      'better',
      '3',
    ]);
  });

  it('drops an answer that was written after it and before the model was given it: people do not see that one either', () => {
    const told = journal()
      .say('one')
      .add('agent.iteration', { iteration: 1, turn: 1, inputSeq: 1 })
      .say('steer')
      .add('agent.turn_completed', {
        turn: 1,
        message: { role: 'assistant', content: [{ type: 'text', text: '1' }] },
      })
      .turn('2')
      .end();
    expect(linesOf(fold(told.events))).toEqual(['one', '1', 'steer', '2']);
    const edited = told.say('better', { replaces: 'steer' }).turn('3');
    expect(linesOf(fold(edited.events))).toEqual(['one', 'better', '3']);
  });

  it('keeps a summary of what came before it', () => {
    const told = journal().say('one').turn('1').end().say('two').turn('2', {});
    told.add('phase.completed', { phase: 'compaction', summary: 'in short', throughPosition: 4 });
    told.end().say('two better', { replaces: 'two' }).turn('3');
    const lines = linesOf(fold(told.events));
    expect(lines).toEqual([expect.stringContaining('in short'), 'two better', '3']);
    expect(linesOf(fold(told.events.filter((event) => event.position > 4)))).toEqual(lines);
  });

  it('gives the same with the events folded at once or one by one, with a cut in between', () => {
    const told = journal().say('one').turn('1', {}).end().say('two').turn('2', {}).end();
    told.say('two better', { replaces: 'two' }).turn('3', {});
    const live = fold(told.events);
    const cut = live.findCut(100);
    const compaction = { phase: 'compaction', summary: 'in short', throughPosition: cut?.throughPosition };
    const last = told.add('phase.completed', compaction).events.at(-1) as FoldEvent;
    live.apply(last);
    const anew = fold(told.events.filter((event) => event.position > Number(cut?.throughPosition)));
    expect(anew.messages()).toEqual(live.messages());
  });
});

describe('files of messages', () => {
  it('stand behind the words, and count with what they will add to the request', () => {
    const one = fold(
      journal()
        .say('look', { attachments: [FILE] })
        .turn('1').events,
    );
    expect(linesOf(one)[0]).toBe('look + a.txt');
    expect(one.bytes).toBeGreaterThan(1_000);
    const picture = { ...FILE, mediaType: 'image/png', name: 'a.png', bytes: 4_000_000 };
    const seen = fold(
      journal()
        .say('look', { attachments: [picture] })
        .turn('1').events,
    );
    expect(seen.bytes).toBeGreaterThan(3_000);
    expect(seen.bytes).toBeLessThan(6_000);
  });

  it('stand beside the answer to a question', () => {
    const told = journal().say('one').turn('ask', { text: 'answer' });
    told.say('answer', { answers: 'c3', attachments: [FILE] }).turn('2');
    expect(linesOf(fold(told.events)).slice(-2)).toEqual([expect.stringContaining('+ a.txt'), '2']);
  });
});

describe('taint', () => {
  it('comes with results from outside and with files, from the moment that they are there', () => {
    expect(fold(journal().say('one').turn('1', {}).turn('2').events).isTainted).toBe(false);
    expect(fold(journal().say('one').turn('1', { untrusted: 'web' }).events).isTainted).toBe(true);
    expect(fold(journal().say('one', { attachments: [FILE] }).events).isTainted).toBe(true);
  });

  it('goes with what is dropped, and stays with what is not', () => {
    const read = journal().say('one').turn('1').end().say('two').turn('2', { untrusted: 'web' }).end();
    expect(fold(read.events).isTainted).toBe(true);
    expect(fold(read.say('two better', { replaces: 'two' }).events).isTainted).toBe(false);
    const before = journal().say('one').turn('1', { untrusted: 'web' }).end().say('two').turn('2').end();
    expect(fold(before.say('two better', { replaces: 'two' }).events).isTainted).toBe(true);
  });

  it('goes into a summary', () => {
    const told = journal().say('one').turn('1', { untrusted: 'web' }).turn('2').say('two').turn('3');
    const cut = fold(told.events).findCut(50);
    expect(cut?.isTainted).toBe(true);
    const payload = { phase: 'compaction', summary: 's', throughPosition: cut?.throughPosition };
    expect(fold([...told.add('phase.completed', { ...payload, tainted: true }).events]).isTainted).toBe(true);
  });
});
