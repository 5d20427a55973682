// The clients of the stream bench: plain sockets, all in one process, that check what they get.
import { connect, type Socket } from 'node:net';
import { serveCalls } from './child-calls.ts';
import { EventReader } from './event-reader.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { machineMs } from './monotonic.ts';
import { LoadWatch, type ProcessLoad } from './process-load.ts';

export interface ConnectRequest {
  port: number;
  /** A token for each user. */
  tokens: string[];
  clientsPerUser: number;
}
export interface Received {
  latencyMs: { p50: number; p99: number; max: number };
  deliveries: number;
  /** Events that a client should have got and did not, over all clients. */
  lost: number;
  repeated: number;
  /** Streams that ended before their time. */
  broken: number;
  load: ProcessLoad;
}

interface Client {
  user: number;
  socket: Socket;
  /** The last position it has; -1 before the stream has begun. */
  position: number;
}
const ABREAST = 50;

let clients: Client[] = [];
let latency = new LatencyHistogram();
const counts = { lost: 0, repeated: 0, broken: 0 };
/** When each event was sent, by user and position: read from the first copy of it, since a parse costs too much for all. */
let sentAt: Map<number, number>[] = [];
const load = new LoadWatch();

const calls = { open, begin: async (): Promise<void> => load.begin(), finish, close };
export type StreamClientsCalls = typeof calls;
serveCalls(calls);

/** Opens all streams and resolves when each has begun. */
async function open(request: ConnectRequest): Promise<{ seconds: number }> {
  latency = new LatencyHistogram();
  Object.assign(counts, { lost: 0, repeated: 0, broken: 0 });
  sentAt = request.tokens.map(() => new Map<number, number>());
  clients = [];
  const started = machineMs();
  const wanted = request.tokens.flatMap((token, user) =>
    Array.from({ length: request.clientsPerUser }, () => ({ token, user })),
  );
  while (wanted.length > 0) {
    await Promise.all(wanted.splice(0, ABREAST).map(({ token, user }) => openOne(request.port, token, user)));
  }
  return { seconds: (machineMs() - started) / 1000 };
}

function openOne(port: number, token: string, user: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const client: Client = { user, socket, position: -1 };
    const reader = new EventReader(
      (position) => {
        client.position = position;
        resolve();
      },
      (position, block) => take(client, position, block),
    );
    let head: Buffer | null = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      if (head === null) return reader.push(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.indexOf('\r\n\r\n') === -1) return;
      const status = head.subarray(0, 12).toString('latin1');
      if (status !== 'HTTP/1.1 200') return reject(new Error(`${status}: ${head.toString('latin1')}`));
      reader.push(head);
      head = null;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (clients.includes(client)) counts.broken += 1;
      reject(new Error('the stream ended before it began'));
    });
    clients.push(client);
    socket.write(
      `GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
  });
}

function take(client: Client, position: number, block: Buffer): void {
  const now = machineMs();
  if (position <= client.position) {
    counts.repeated += 1;
    return;
  }
  counts.lost += position - client.position - 1;
  client.position = position;
  const times = sentAt[client.user] as Map<number, number>;
  let sent = times.get(position);
  if (sent === undefined) times.set(position, (sent = readSentAt(block)));
  latency.add(now - sent);
}

function readSentAt(block: Buffer): number {
  const event = JSON.parse(block.toString('utf8').slice('data: '.length)) as { payload: { sentAt: number } };
  return event.payload.sentAt;
}

/** Waits until every client has its user's last event, at most `patienceMs`, and sums up. */
async function finish(request: { lastPositions: number[]; patienceMs: number }): Promise<Received> {
  const lack = () =>
    clients.reduce((sum, { user, position }) => sum + (request.lastPositions[user] ?? 0) - position, 0);
  const deadline = machineMs() + request.patienceMs;
  while (lack() > 0 && machineMs() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    latencyMs: { p50: latency.percentile(0.5), p99: latency.percentile(0.99), max: latency.max },
    deliveries: latency.count,
    lost: counts.lost + lack(),
    repeated: counts.repeated,
    broken: counts.broken,
    load: load.end(),
  };
}

async function close(): Promise<void> {
  const open = clients;
  clients = [];
  for (const { socket } of open) socket.destroy();
}
