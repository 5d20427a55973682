import type { EventEnvelope, NewEvent } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiToken } from '../../identity/index.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';
import { openEventStream, type EventStream } from './testing/event-stream.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const note = (text: string): NewEvent => ({
  type: 'tool.progress',
  payload: { callId: 'c', stream: 'note', text },
});
const COMPLETED: NewEvent = {
  type: 'task.completed',
  payload: {
    result: 'done',
    success: true,
    spending: { iterations: 1, tokens: 1, costUsd: 0, durationMs: 1 },
  },
};
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => note(`n${from + index}`));

function openTask(taskId: string, lastEventId?: number | string, on = server): Promise<EventStream> {
  return openEventStream(`${on.url}/api/tasks/${taskId}/events`, {
    ...bearer(bed.owner.token),
    ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
  });
}
function openAll(lastEventId?: number | string, on = server): Promise<EventStream> {
  return openEventStream(`${on.url}/api/events`, {
    ...bearer(bed.owner.token),
    ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
  });
}
const seqs = (stream: EventStream) => stream.events.map((event) => (event.data as EventEnvelope).seq);
const texts = (stream: EventStream) =>
  stream.events.map((event) => (event.data as Partial<EventEnvelope>).payload?.['text']);
async function untilConnections(at: TestServer, wanted: number): Promise<void> {
  const count = () =>
    new Promise<number>((resolve) => at.app.server.getConnections((_, found) => resolve(found)));
  while ((await count()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
}
async function endTask(taskId: string): Promise<void> {
  await bed.append(taskId, [COMPLETED]);
  await bed.database.pool.query(
    "update vitto_tasks set state = 'completed', ended_at = now(), lease_holder = null, lease_until = null where id = $1",
    [taskId],
  );
}

describe('a task stream', () => {
  it('gives every event once and in order over cuts after 0, 7, 250 and 499 events, while it is written', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const writing = (async () => {
      for (let from = 1; from < 500; from += 10) {
        await bed.append(taskId, numbered(from, Math.min(from + 9, 499)));
        server.signals.journalGrew(bed.owner.userId);
      }
    })();
    const got: number[] = [];
    let last: string | undefined;
    for (const cutAfter of [0, 7, 250, 499]) {
      const stream = await openTask(taskId, last);
      await stream.until((s) => s.lastEventId !== '' && got.length + s.events.length >= cutAfter);
      stream.cut();
      await stream.ended;
      got.push(...seqs(stream));
      last = stream.lastEventId;
      // Cut again at once after resuming, before anything came.
      const again = await openTask(taskId, last);
      await again.until((s) => s.lastEventId !== '');
      again.cut();
      await again.ended;
      got.push(...seqs(again));
      last = again.lastEventId;
    }
    await writing;
    await endTask(taskId);
    const rest = await openTask(taskId, last);
    await rest.ended;
    got.push(...seqs(rest));
    expect(got).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });

  it('begins at the beginning without an id and ends after the last event; coming back then gives 204', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    await bed.append(taskId, numbered(1, 3));
    const stream = await openTask(taskId);
    await stream.until((s) => s.events.length === 3);
    await endTask(taskId);
    server.signals.journalGrew(bed.owner.userId);
    await stream.ended;
    expect(seqs(stream)).toEqual([1, 2, 3, 4]);
    expect(stream.comments.at(-1)).toBe('end of task');
    const back = await openTask(taskId, stream.lastEventId);
    expect(back.status).toBe(204);
  });

  it('sends the end of a task that ended while the client was away', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    await bed.append(taskId, numbered(1, 2));
    const first = await openTask(taskId);
    await first.until((s) => s.events.length === 2);
    first.cut();
    await endTask(taskId);
    const second = await openTask(taskId, first.lastEventId);
    await second.ended;
    expect(seqs(second)).toEqual([3]);
  });

  it('is refused to another user, as if there were none', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const stream = await openEventStream(
      `${server.url}/api/tasks/${taskId}/events`,
      bearer(bed.stranger.token),
    );
    expect(stream.status).toBe(404);
    expect(stream.headers['content-type']).toContain('application/problem+json');
  });

  it("holds nothing of the user's other tasks", async () => {
    const mine = await bed.createTask(bed.owner.userId);
    const other = await bed.createTask(bed.owner.userId);
    await bed.append(other, numbered(1, 5));
    const stream = await openTask(mine);
    await bed.append(other, numbered(6, 9));
    await bed.append(mine, [note('mine')]);
    server.signals.journalGrew(bed.owner.userId);
    await stream.until((s) => s.events.length === 1);
    expect(texts(stream)).toEqual(['mine']);
    stream.cut();
  });
});

describe('the stream of all events', () => {
  it('begins now without an id, tells the id to resume with at once, and loses nothing before the first event', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    await bed.append(taskId, [note('before')]);
    const stream = await openAll();
    await stream.until((s) => s.lastEventId !== '');
    stream.cut();
    await bed.append(taskId, [note('while away')]);
    const back = await openAll(stream.lastEventId);
    await back.until((s) => s.events.length === 1);
    expect(texts(back)).toEqual(['while away']);
    back.cut();
  });

  it('gives two tabs everything', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const tabs = await Promise.all([openAll(), openAll()]);
    await Promise.all(tabs.map((tab) => tab.until((s) => s.lastEventId !== '')));
    await bed.append(taskId, numbered(1, 50));
    server.signals.journalGrew(bed.owner.userId);
    await Promise.all(tabs.map((tab) => tab.until((s) => s.events.length === 50)));
    expect(tabs.map(seqs)).toEqual([seqs(tabs[0]), seqs(tabs[0])]);
    for (const tab of tabs) tab.cut();
  });

  it('carries what another process wrote, by its signal', async () => {
    // Polling is switched off: only the signal between the processes can bring the event.
    const [reader, writer] = await Promise.all([
      bed.startServer({ streamLimits: { pollMs: 3_600_000 } }),
      bed.startServer(),
    ]);
    const taskId = await bed.createTask(bed.owner.userId);
    const stream = await openAll(undefined, reader);
    await stream.until((s) => s.lastEventId !== '');
    await bed.append(taskId, [note('from afar')]);
    writer.signals.journalGrew(bed.owner.userId);
    await stream.until((s) => s.events.length === 1);
    expect(texts(stream)).toEqual(['from afar']);
    await Promise.all([reader.close(), writer.close()]);
  });

  it('carries what was written without a signal, by polling', async () => {
    const quiet = await bed.startServer({ streamLimits: { pollMs: 50 } });
    const taskId = await bed.createTask(bed.owner.userId);
    const stream = await openAll(undefined, quiet);
    await stream.until((s) => s.lastEventId !== '');
    await bed.append(taskId, [note('unsignalled')]);
    await stream.until((s) => s.events.length === 1);
    await quiet.close();
  });

  it('goes on at another server after the first has stopped', async () => {
    const first = await bed.startServer();
    const taskId = await bed.createTask(bed.owner.userId);
    const stream = await openAll(undefined, first);
    await stream.until((s) => s.lastEventId !== '');
    await bed.append(taskId, numbered(1, 5));
    first.signals.journalGrew(bed.owner.userId);
    await stream.until((s) => s.events.length === 5);
    await first.close();
    await stream.ended;
    await bed.append(taskId, numbered(6, 10));
    const second = await bed.startServer();
    const back = await openAll(stream.lastEventId, second);
    await back.until((s) => s.events.length === 5);
    expect([...seqs(stream), ...seqs(back)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await second.close();
  });

  it.each(['abc', '-1', '1.5', '0x10', '1e3', ' 7 8'])('refuses %j as a last event id', async (id) => {
    const stream = await openAll(id);
    await stream.ended;
    expect(stream.status).toBe(400);
    expect(JSON.parse(stream.body)).toMatchObject({ code: 'stream.bad-last-event-id', status: 400 });
  });

  it.each(['999999', '99999999999999999999999999'])(
    'answers an id of the future (%s) by a resync and goes on',
    async (id) => {
      const taskId = await bed.createTask(bed.owner.userId);
      const lastPosition = await bed.append(taskId, [note('known')]);
      const stream = await openAll(id);
      await stream.until((s) => s.events.length === 1);
      expect(stream.events[0]).toEqual({ id: String(lastPosition), name: 'resync', data: { lastPosition } });
      await bed.append(taskId, [note('next')]);
      server.signals.journalGrew(bed.owner.userId);
      await stream.until((s) => s.events.length === 2);
      expect(texts(stream)[1]).toBe('next');
      stream.cut();
    },
  );

  it('takes the last id from the address too, and the header before it', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const last = await bed.append(taskId, numbered(1, 5));
    const byQuery = await openEventStream(
      `${server.url}/api/events?lastEventId=${last - 2}`,
      bearer(bed.owner.token),
    );
    await byQuery.until((s) => s.events.length === 2);
    const both = await openEventStream(`${server.url}/api/events?lastEventId=0`, {
      ...bearer(bed.owner.token),
      'last-event-id': String(last - 1),
    });
    await both.until((s) => s.events.length === 1);
    expect(seqs(both)).toEqual([5]);
    byQuery.cut();
    both.cut();
  });

  it('keeps emoji whole and NUL visible, as the table has them', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    const stream = await openAll();
    await stream.until((s) => s.lastEventId !== '');
    await bed.append(taskId, [
      note('🦊👨‍👩‍👧 ñ 中'),
      note('W\0s\0l\0'),
      note(String.raw`the literal \u0000 stays`),
      note('half \ud83e'),
      note('line\r\nbreak \u2028 data: x\n\nid: 9'),
    ]);
    server.signals.journalGrew(bed.owner.userId);
    await stream.until((s) => s.events.length === 5);
    expect(texts(stream)).toEqual([
      '🦊👨‍👩‍👧 ñ 中',
      'W␀s␀l␀',
      String.raw`the literal \u0000 stays`,
      'half \ufffd',
      'line\r\nbreak \u2028 data: x\n\nid: 9',
    ]);
    stream.cut();
  });

  it('sets the headers that keep proxies from buffering, and beats', async () => {
    const fast = await bed.startServer({ streamLimits: { heartbeatMs: 20 } });
    const stream = await openAll(undefined, fast);
    await stream.until((s) => s.comments.filter((text) => text === 'heartbeat').length >= 2);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    await fast.close();
    await stream.ended;
  });

  it('drops a client that takes nothing, and gives it the rest when it comes back', async () => {
    const strict = await bed.startServer({ streamLimits: { stallMs: 200 } });
    const taskId = await bed.createTask(bed.owner.userId);
    const big = 'x'.repeat(200_000);
    const slow = await openTask(taskId, undefined, strict);
    const quick = await openTask(taskId, undefined, strict);
    slow.pause();
    for (let index = 1; index <= 60; index += 1) {
      await bed.append(taskId, [note(`${index} ${big}`)]);
      strict.signals.journalGrew(bed.owner.userId);
    }
    await quick.until((s) => s.events.length === 60);
    // Only the quick one is left: what lies in the slow one's own buffers still arrives.
    await untilConnections(strict, 1);
    slow.resume();
    await slow.ended;
    expect(slow.events.length).toBeLessThan(60);
    const back = await openTask(taskId, slow.lastEventId, strict);
    await back.until((s) => slow.events.length + s.events.length === 60);
    expect([...seqs(slow), ...seqs(back)]).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    await strict.close();
  });

  it('ends with the session it was opened with', async () => {
    const token = await createApiToken(bed.database, bed.owner.userId, { name: 'short-lived' });
    const stream = await openEventStream(`${server.url}/api/events`, bearer(token.token));
    await stream.until((s) => s.lastEventId !== '');
    const answer = await fetch(`${server.url}/api/tokens/${token.id}`, {
      method: 'DELETE',
      headers: bearer(bed.owner.token),
    });
    expect(answer.status).toBe(204);
    await stream.ended;
    expect((await openEventStream(`${server.url}/api/events`, bearer(token.token))).status).toBe(401);
  });
});

describe('the page of events', () => {
  it('goes on from lastPosition without a gap', async () => {
    const taskId = await bed.createTask(bed.owner.userId);
    await bed.append(taskId, numbered(1, 25));
    const seen: number[] = [];
    let after = 0;
    for (;;) {
      const answer = await fetch(`${server.url}/api/tasks/${taskId}/events?after=${after}&limit=10`, {
        headers: bearer(bed.owner.token),
      });
      const page = (await answer.json()) as { items: EventEnvelope[]; lastPosition: number };
      if (page.items.length === 0) break;
      seen.push(...page.items.map((event) => event.seq));
      after = page.lastPosition;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });
});
