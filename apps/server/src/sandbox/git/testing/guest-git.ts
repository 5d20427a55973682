import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitTransport } from '../git-transport.ts';

/** A real git that has the transport as its ssh, as in a guest: arguments in front, then bytes, and a reason at the end. */
export interface GuestGit {
  folder: string;
  git: (...args: string[]) => Promise<{ code: number; output: string }>;
  close: () => Promise<void>;
}

/** Stands in for the guest's relay: a line with the length of the arguments, the arguments, then the stream as it is. */
const RELAY = `
const net = require('node:net');
const about = Buffer.from(process.argv.slice(3).map((one) => one + '\\0').join(''));
const socket = net.connect({ path: process.argv[2], allowHalfOpen: true });
socket.write(about.length + '\\n');
socket.write(about);
process.stdin.pipe(socket);
const out = [];
socket.on('data', (chunk) => { if (!process.stdout.write(chunk)) { socket.pause(); process.stdout.once('drain', () => socket.resume()); } });
socket.on('end', () => {
  const reason = require('node:fs').readFileSync(process.argv[2] + '.reason', 'utf8');
  process.stderr.write(reason);
  process.exitCode = reason === '' ? 0 : 128;
  process.stdin.destroy();
  socket.destroy();
});
`;

export async function openGuestGit(transport: GitTransport): Promise<GuestGit> {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-guest-git-'));
  const path = join(folder, 'git.sock');
  const ssh = join(folder, 'ssh');
  await writeFile(`${path}.reason`, '');
  await writeFile(`${ssh}.cjs`, RELAY);
  await writeFile(ssh, `#!/bin/sh\nexec ${process.execPath} ${ssh}.cjs ${path} "$@"\n`);
  await chmod(ssh, 0o755);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    serve(transport, socket, `${path}.reason`);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LC_ALL: 'C',
    GIT_SSH_COMMAND: ssh,
    GIT_SSH_VARIANT: 'ssh',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  return {
    folder,
    git: async (...args) => {
      await writeFile(`${path}.reason`, '');
      const child = spawn('git', args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const code = await new Promise<number>((resolve) => child.once('close', (end) => resolve(end ?? -1)));
      return { code, output };
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}

/** Hands a connection to the transport as the agent does: what the relay was called with, and a stream that ends with a reason. */
function serve(transport: GitTransport, socket: Socket, reasonFile: string): void {
  socket.on('error', () => undefined);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const line = head.indexOf('\n');
    const length = Number(head.subarray(0, line).toString());
    if (line < 0 || head.length < line + 1 + length) return;
    socket.off('data', readHead).pause();
    const about = head.subarray(line + 1, line + 1 + length);
    socket.unshift(head.subarray(line + 1 + length));
    transport.accept(about, toStream(socket, reasonFile));
  };
  socket.on('data', readHead);
}

function toStream(socket: Socket, reasonFile: string): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, () => done()),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      if (error !== null) writeFileSync(reasonFile, `${error.message}\n`);
      socket.end();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on('end', () => stream.push(null));
  return stream;
}
