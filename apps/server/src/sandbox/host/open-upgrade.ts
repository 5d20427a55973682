import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readRefusal, type HostConnection } from './host-connection.ts';
import { API_ROOT } from './http/wire.ts';

const ANSWER_MS = 40_000;

/** Opens a connection to the host that speaks another protocol from then on. @throws what the host refuses it with. */
export function openUpgrade(
  host: HostConnection,
  call: { path: string; query: Record<string, string>; protocol: string },
): Promise<Duplex> {
  const url = new URL(`${host.url}${API_ROOT}${call.path}?${new URLSearchParams(call.query).toString()}`);
  const open = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = open(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}`, connection: 'upgrade', upgrade: call.protocol },
      agent: false,
    });
    request.setTimeout(ANSWER_MS, () => request.destroy(new Error('it did not answer in time')));
    request.on('upgrade', (_answer, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('response', (answer) => {
      readAnswer(host, answer).then(reject, reject);
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(host.unreachable(error.code ?? error.message)),
    );
    request.end();
  });
}

async function readAnswer(host: HostConnection, answer: IncomingMessage): Promise<Error> {
  const refusal = readRefusal(await text(answer));
  return refusal ?? host.unreachable(`it answers with status ${answer.statusCode ?? 0}`);
}
