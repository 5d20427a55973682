import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import type { Duplex } from 'node:stream';
import type { ApiClient } from './api-client.ts';
import { readProblem, unreachable } from './api-problem.ts';

const PROTOCOL = 'vitto-ssh';
/** The machine may have to start first. */
const ANSWER_MS = 600_000;

/** Joins stdin and stdout to an sshd in a machine that lets in the holder of this key. @throws CliError */
export async function joinSshStream(api: ApiClient, id: string, publicKey: string): Promise<void> {
  const socket = await openStream(api, id, publicKey.trim());
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // Whichever side ends first ends the other: ssh itself waits for nothing more.
  const up = pipeline(process.stdin, socket).catch(() => socket.destroy());
  const down = pipeline(socket, process.stdout, { end: false }).catch(() => socket.destroy());
  await Promise.race([down, ended]);
  process.stdin.destroy();
  socket.destroy();
  await up;
}

function openStream(api: ApiClient, id: string, publicKey: string): Promise<Duplex> {
  const url = api.address(`api/sandbox/${encodeURIComponent(id)}/ssh`, { publicKey });
  const open = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = open(url, {
      method: 'POST',
      headers: { ...api.headers, connection: 'upgrade', upgrade: PROTOCOL },
      agent: false,
    });
    request.setTimeout(ANSWER_MS, () => request.destroy(new Error('it did not answer in time')));
    request.on('upgrade', (_answer, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('response', (answer) => void readRefusal(answer).then(reject, reject));
    request.on('error', (error) =>
      reject(unreachable(api.url, new TypeError('fetch failed', { cause: error }))),
    );
    request.end();
  });
}

async function readRefusal(answer: IncomingMessage): Promise<Error> {
  return readProblem(new Response(await text(answer), { status: answer.statusCode ?? 500 }));
}
