import { Duplex, PassThrough } from 'node:stream';
import type ssh2 from 'ssh2';
import { expect, it } from 'vitest';
import { relayGit, type RelayLimits } from './relay-git.ts';

const LIMITS: RelayLimits = { totalMs: 60_000, idleMs: 60_000, maxBytes: 1_000 };
const REQUEST = {
  verb: 'git-upload-pack',
  isVersion2: false,
  repository: { user: 'git', host: 'forge.example', port: 22, path: 'a' },
} as const;

function relay(limits: Partial<RelayLimits> = {}) {
  const guest = new PassThrough();
  const [out, stderr] = [new PassThrough(), new PassThrough()];
  const channel = Object.assign(Duplex.from({ readable: out, writable: new PassThrough().resume() }), {
    stderr,
  });
  const session = { channel: channel as unknown as ssh2.ClientChannel, close: () => channel.destroy() };
  return { guest, out, channel, done: relayGit(guest, session, REQUEST, { ...LIMITS, ...limits }) };
}

it('a server that says all and never how it ended is held to the limits, and left when the guest is gone', async () => {
  const slow = relay({ totalMs: 20 });
  slow.out.end('all of it');
  await expect(slow.done).rejects.toThrow('it took longer than it may');
  const left = relay();
  left.out.end('all of it');
  left.guest.resume().destroy();
  await expect(left.done).rejects.toThrow('git in the machine has ended');
});

it('what a server says of a failure comes as plain text, its end only', async () => {
  const { channel, out, done } = relay();
  channel.stderr.write(`${'x'.repeat(5_000)}\n\u001b[2Jgone`);
  out.end();
  await new Promise(setImmediate);
  channel.emit('exit', 128);
  const error = (await done.catch((reason: unknown) => reason)) as Error;
  expect(error.message).toMatch(/^x{200}\n\?\[2Jgone$/);
});
