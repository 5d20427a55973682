import type { FastifyReply } from 'fastify';

/** The client closed its connection before it had the whole answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientGone';
  }
}

/** A signal that aborts with `ClientGone` when the connection closes before the answer is whole. */
export function watchClient(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  const leave = () => {
    if (!raw.writableFinished) controller.abort(new ClientGone());
  };
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return controller.signal;
}
