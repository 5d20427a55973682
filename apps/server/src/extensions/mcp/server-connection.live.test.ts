import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../kernel/logger.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { Offer } from './offer.ts';
import { openTransport } from './open-transport.ts';
import { CONNECTION_LIMITS, ServerConnection, type ConnectionLimits } from './server-connection.ts';
import { createStub, createTestPrograms, isAlive, type Stub } from './testing/stub.ts';

const never = new AbortController().signal;
const open: { connection: ServerConnection; stub: Stub }[] = [];
afterEach(async () => {
  for (const { connection, stub } of open.splice(0)) {
    await connection.close();
    await stub.remove();
  }
});

async function connect(scenario: string, limits: Partial<ConnectionLimits> = {}) {
  const stub = await createStub(scenario);
  const noise: string[] = [];
  const offers: Offer[] = [];
  const logger = {
    ...silentLogger,
    info: ({ line }: { line: string }) => void noise.push(line),
  } as unknown as Logger;
  const connection = new ServerConnection({
    server: 'stub',
    version: '0',
    open: () => openTransport(stub.transport, { isOwners: true, logger, programs: createTestPrograms() }),
    limits: { ...CONNECTION_LIMITS, ...limits },
    onOffer: (offer) => void offer.then((one) => offers.push(one)),
  });
  open.push({ connection, stub });
  const call = (tool: string, args: Record<string, unknown> = {}, signal = never) =>
    connection.call(tool, args, { signal, onProgress: () => undefined, checkOffer: () => undefined });
  return { connection, stub, noise, offers, call };
}

const textOf = ({ content }: CallToolResult) =>
  content.map((part) => ('text' in part ? part.text : '')).join();
/** No pause after a failure. */
const AT_ONCE = { firstDelayMs: 0, maxDelayMs: 0 };
/** A pause that outlasts any test. */
const NOT_AGAIN = { firstDelayMs: 600_000, maxDelayMs: 600_000 };

describe('a noisy server that dies (b-12)', () => {
  it('is understood between its banners, and they are logged', async () => {
    const { connection, noise, stub } = await connect('noise');
    const { tools } = await connection.offer(never);
    expect(tools).toHaveLength(128);
    expect(noise).toEqual(
      expect.arrayContaining(['Starting…', '🚀 ready when you are 👩‍👩‍👧', '{"level":"info"}']),
    );
    expect(noise).toHaveLength(20);
    expect(stub.pids()).toHaveLength(1);
  });

  it('has an answer whole that came in two pieces, cut inside a character', async () => {
    const { call } = await connect('noise');
    expect(textOf(await call('a-splits'))).toBe('grüße 🎉 done');
  });

  it('fails the pending call when it dies, tells its last words, and is started again for the next', async () => {
    const { call, stub } = await connect('noise', AT_ONCE);
    await call('a-splits');
    const dying = call('a-dies');
    await expect(dying).rejects.toMatchObject({ code: 'mcp.unavailable' });
    await expect(dying).rejects.toThrow(/exit code 1.*out of luck/);
    expect(textOf(await call('tool-001', { text: 'hi' }))).toBe('tool-001 got {"text":"hi"}');
    expect(stub.pids()).toHaveLength(2);
  });

  it('is not started again before its pause is over; calls say why at once', async () => {
    const { call, stub } = await connect('noise', NOT_AGAIN);
    await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
    await expect(call('tool-001')).rejects.toThrow(/exit code 1.*tried again in a while/);
    await expect(call('tool-001')).rejects.toMatchObject({ code: 'mcp.unavailable' });
    expect(stub.pids()).toHaveLength(1);
  });

  it('is given up after six deaths in a row, though each greeting worked', async () => {
    const { connection, call, stub } = await connect('noise', AT_ONCE);
    for (let death = 1; death <= 6; death += 1) await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
    expect(connection.gaveUpAt).not.toBeNull();
    await expect(call('tool-001')).rejects.toThrow(/failed too often/);
    expect(stub.pids()).toHaveLength(6);
  });

  it('has its row of failures ended by a call that works', async () => {
    const { connection, call, stub } = await connect('noise', AT_ONCE);
    for (let round = 1; round <= 4; round += 1) {
      await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
      await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
      await call('tool-001');
    }
    expect(connection.gaveUpAt).toBeNull();
    expect(stub.pids()).toHaveLength(9);
  });

  it('ends a call without an answer after its time, and takes others meanwhile and after', async () => {
    const { call, stub } = await connect('noise', { callMs: 300 });
    const hanging = call('a-hangs');
    expect(textOf(await call('tool-001'))).toMatch(/tool-001/);
    await expect(hanging).rejects.toMatchObject({ code: 'mcp.timeout' });
    expect(textOf(await call('tool-002'))).toMatch(/tool-002/);
    expect(stub.pids()).toHaveLength(1);
  });

  it('has calls side by side fail together when it dies, with one new start for all that follow', async () => {
    const { call, stub } = await connect('noise', AT_ONCE);
    await call('tool-001');
    const fates = await Promise.allSettled([call('a-hangs'), call('a-hangs'), call('a-dies')]);
    expect(fates.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await Promise.all([call('tool-001'), call('tool-002'), call('tool-003')]);
    expect(stub.pids()).toHaveLength(2);
  });
});

describe('a connection to a program', () => {
  it('says why one cannot be started, once a pause', async () => {
    const { call, stub } = await connect('dead', NOT_AGAIN);
    await expect(call('x')).rejects.toThrow(/exit code 3.*cannot read my settings/);
    await expect(call('x')).rejects.toThrow(/exit code 3/);
    // Once to ask which revision it speaks, once the old way.
    expect(stub.pids()).toHaveLength(2);
  });

  it('says that there is no such program', async () => {
    const connection = new ServerConnection({
      server: 'ghost',
      version: '0',
      open: () =>
        openTransport(
          { kind: 'stdio', command: '/nowhere/at-all', args: [], env: {} },
          { isOwners: true, logger: silentLogger, programs: createTestPrograms() },
        ),
      limits: CONNECTION_LIMITS,
      onOffer: () => undefined,
    });
    await expect(connection.offer(never)).rejects.toThrow(/ghost is not available.*ENOENT/);
    await connection.close();
  });

  it('gives up on one that says nothing', async () => {
    const { call } = await connect('mute', { ...NOT_AGAIN, connectMs: 400 });
    await expect(call('x')).rejects.toMatchObject({ code: 'mcp.unavailable' });
  });

  it('greets one the old way that dies of the new question, and remembers it', async () => {
    const { call, stub } = await connect('timid', AT_ONCE);
    expect(textOf(await call('a-any'))).toBe('a-any got {}');
    await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
    await call('a-any');
    expect(stub.pids()).toHaveLength(3);
  });

  it('returns at once on cancel, tells the server, and stays usable', async () => {
    const { connection, call, stub } = await connect('noise');
    await call('tool-001');
    const stop = new AbortController();
    const hanging = connection.call(
      'a-hangs',
      {},
      {
        signal: stop.signal,
        onProgress: () => stop.abort(new Error('the user said so')),
        checkOffer: () => undefined,
      },
    );
    await expect(hanging).rejects.toThrow('the user said so');
    // Its stderr is told with its death: what it was told is the last that it said.
    await expect(call('a-dies')).rejects.toThrow(/cancelled \d+/);
    expect(stub.pids()).toHaveLength(1);
  });

  it('ends the whole group of a server when it is closed', async () => {
    const { connection, stub } = await connect('holder');
    await connection.offer(never);
    const [server, child] = stub.pids() as [number, number];
    expect([isAlive(server), isAlive(child)]).toEqual([true, true]);
    await connection.close();
    await expect.poll(() => [isAlive(server), isAlive(child)]).toEqual([false, false]);
  });

  it('sees the death of a server whose child holds its pipes', async () => {
    const { call, stub } = await connect('holder', NOT_AGAIN);
    await expect(call('a-dies')).rejects.toThrow(/exit code 1/);
    const [, child] = stub.pids() as [number, number];
    await expect.poll(() => isAlive(child)).toBe(false);
  });
});

describe('a server that changes its tools after the first use (i-06)', () => {
  it('is asked again what it offers before the next call goes out', async () => {
    const { call, connection, offers } = await connect('poisoned');
    const { hash } = await connection.offer(never);
    await call('a-changes');
    const seen: string[] = [];
    const second = connection.call(
      'a-changes',
      {},
      {
        signal: never,
        onProgress: () => undefined,
        checkOffer: (offer) => {
          seen.push(offer.hash);
          if (offer.hash !== hash) throw new Error('not what was approved');
        },
      },
    );
    await expect(second).rejects.toThrow('not what was approved');
    expect(seen).toHaveLength(1);
    expect(offers.map((offer) => offer.hash === hash)).toEqual([true, false]);
  });
});
