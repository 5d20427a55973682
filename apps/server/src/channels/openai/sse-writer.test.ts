import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { expect, it } from 'vitest';
import { SseWriter } from './sse-writer.ts';

/** A client that has room for so many writes and then takes nothing until it drains. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  status: number | null = null;
  room: number;
  destroyed = false;
  isEnded = false;

  constructor(room: number) {
    super();
    this.room = room;
  }

  get writableNeedDrain(): boolean {
    return this.room <= 0;
  }
  writeHead(status: number): void {
    this.status = status;
  }
  write(text: string): boolean {
    this.written.push(text);
    this.room -= 1;
    return this.room > 0;
  }
  drain(room: number): void {
    this.room = room;
    this.emit('drain');
  }
  end(): void {
    this.isEnded = true;
  }
}

function open(room: number) {
  const raw = new FakeResponse(room);
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
  return { raw, writer: new SseWriter(reply, 1_000_000) };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('is no stream before something is sent, so that a request can still be refused', async () => {
  const { raw, writer } = open(9);
  expect([writer.isOpen, raw.status]).toEqual([false, null]);
  await writer.send({ a: 'line\nbreak' });
  expect([writer.isOpen, raw.status]).toEqual([true, 200]);
  await writer.send('[DONE]');
  writer.close();
  expect(raw.written).toEqual(['data: {"a":"line\\nbreak"}\n\n', 'data: [DONE]\n\n']);
  expect(raw.isEnded).toBe(true);
});

it('is not ended by what was never begun', () => {
  const { raw, writer } = open(9);
  writer.close();
  expect(raw.isEnded).toBe(false);
});

it('waits while the client takes nothing', async () => {
  const { raw, writer } = open(1);
  let isSent = false;
  const sent = writer.send('one').then(() => (isSent = true));
  await settle();
  expect(isSent).toBe(false);
  raw.drain(5);
  await sent;
  expect(raw.listenerCount('drain') + raw.listenerCount('close')).toBe(0);
  writer.close();
});

it('lets go of a client that is gone', async () => {
  const { raw, writer } = open(1);
  const sent = writer.send('one');
  raw.destroyed = true;
  raw.emit('close');
  await sent;
  await writer.send('two');
  expect(raw.written).toEqual(['data: one\n\n']);
  writer.close();
});
