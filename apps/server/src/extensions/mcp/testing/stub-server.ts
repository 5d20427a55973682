/**
 * An MCP server that behaves badly, as a program: `node stub-server.ts SCENARIO`. Each start adds a line with its pid
 * to the file that STUB_STARTS names; what `notes` is told it adds to the file STUB_NOTES. Speaks the protocol by hand,
 * so that every byte is its own.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { toolsOf } from './stub-tools.ts';

interface Request {
  id?: number | string;
  method: string;
  params?: {
    name?: string;
    arguments?: Record<string, unknown>;
    requestId?: unknown;
    _meta?: { progressToken?: unknown };
  };
}

const scenario = process.argv[2] ?? 'noise';
const log = process.env['STUB_STARTS'];
if (log !== undefined) appendFileSync(log, `${process.pid}\n`);
let calls = 0;

if (scenario === 'dead') {
  process.stderr.write('cannot read my settings\n');
  process.exit(3);
}
if (scenario === 'mute') setInterval(() => undefined, 1_000);
else createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line) as Request));
if (scenario === 'noise') process.stdout.write('Starting…\n🚀 ready when you are 👩‍👩‍👧\n{"level":"info"}\n');
// The end of its input is none of its concern.
if (scenario === 'stays') setInterval(() => undefined, 1_000);
if (scenario === 'holder') {
  // Holds the pipes of its parent beyond its end, unless the whole group is ended.
  const child = spawn('sleep', ['600'], { stdio: 'inherit' });
  if (log !== undefined) appendFileSync(log, `${child.pid}\n`);
}

function answer({ id, method, params }: Request): void {
  if (id === undefined) {
    if (method === 'notifications/cancelled')
      process.stderr.write(`cancelled ${String(params?.requestId)}\n`);
    return;
  }
  if (method === 'initialize') return greet(id);
  if (method === 'tools/list') return send(id, { tools: toolsOf(scenario, calls) });
  if (method === 'tools/call') {
    return call(id, params?.name ?? '', params?.arguments ?? {}, params?._meta?.progressToken);
  }
  // An old server that cannot stand a question that it does not know.
  if (scenario === 'timid') process.exit(2);
  write({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

function greet(id: number | string): void {
  send(id, {
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'stub', version: '1' },
  });
  if (scenario !== 'noise') return;
  for (let line = 1; line <= 36; line += 1) process.stdout.write(`[info] log line ${line}\n`);
}

function call(
  id: number | string,
  name: string,
  args: Record<string, unknown>,
  progressToken: unknown,
): void {
  calls += 1;
  if (name === 'a-dies') {
    process.stderr.write('out of luck\n');
    process.exit(1);
  }
  if (name === 'a-hangs') return sayThatItBegan(progressToken);
  if (name === 'a-splits') return sendSplit(id);
  if (name === 'a-notes') return note(id, String(args['text']));
  if (name === 'a-changes') write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  send(id, { content: [{ type: 'text', text: `${name} got ${JSON.stringify(args)}` }] });
}

function sayThatItBegan(progressToken: unknown): void {
  const params = { progressToken, progress: 1, message: 'began' };
  if (progressToken !== undefined) write({ jsonrpc: '2.0', method: 'notifications/progress', params });
}

/** What it does outside is there a while before its answer: who is killed in between does not know of it. */
function note(id: number | string, text: string): void {
  appendFileSync(process.env['STUB_NOTES'] ?? '', `${text}\n`);
  setTimeout(() => send(id, { content: [{ type: 'text', text: `noted ${text}` }] }), 50);
}

/** Two pieces, cut in the middle of the four bytes of a character. */
function sendSplit(id: number | string): void {
  const result = { content: [{ type: 'text', text: 'grüße 🎉 done' }] };
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  const cut = bytes.indexOf(Buffer.from('🎉')) + 2;
  process.stdout.write(bytes.subarray(0, cut), () => {
    setTimeout(() => process.stdout.write(bytes.subarray(cut)), 30);
  });
}

function send(id: number | string, result: unknown): void {
  write({ jsonrpc: '2.0', id, result });
}
function write(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
