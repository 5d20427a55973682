import type { SandboxCaller } from '@vitto/contracts';
import {
  CALL_LIMIT,
  FILE_LIMIT,
  signalOf,
  wantsStream,
  type HostApiDependencies,
  type HostApp,
} from './host-app.ts';
import { toHttpError } from './guest-problem.ts';
import { SseWriter } from './sse-writer.ts';
import { API_ROOT, params, wire } from './wire.ts';

/** Calls into guests: structured, each with its caller. Who goes away ends what was begun. */
export function addGuestRoutes(app: HostApp, deps: HostApiDependencies): void {
  const guest = (id: string, caller: SandboxCaller) => deps.host.guest(id, caller);
  const call = { bodyLimit: CALL_LIMIT };

  app.post(
    `${API_ROOT}/:id/exec`,
    { ...call, schema: { params: params.sandbox, body: wire.exec } },
    async (request, reply) => {
      const { caller, withOutput, ...command } = request.body;
      const run = { ...withoutAbsent(command), signal: signalOf(reply) };
      const session = guest(request.params.id, caller);
      if (!wantsStream(request)) return answer(session.exec(run));
      const sse = new SseWriter(reply);
      const spool = (stream: string, bytes: Uint8Array) => sse.sendBytes(stream, bytes);
      // The guest waits while the client does not read.
      const result = answer(session.exec(withOutput ? { ...run, spool } : run));
      await sse.finish('result', result, (error) => deps.describeError(error, request));
      return reply;
    },
  );

  app.post(
    `${API_ROOT}/:id/write-file`,
    { bodyLimit: FILE_LIMIT, schema: { params: params.sandbox, body: wire.writeFile } },
    (request, reply) => {
      const { caller, ...file } = request.body;
      const session = guest(request.params.id, caller);
      return answer(session.writeFile({ ...withoutAbsent(file), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/read-file`,
    { ...call, schema: { params: params.sandbox, body: wire.readFile } },
    (request, reply) => {
      const { caller, ...file } = request.body;
      const session = guest(request.params.id, caller);
      return answer(session.readFile({ ...withoutAbsent(file), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/list-files`,
    { ...call, schema: { params: params.sandbox, body: wire.listFiles } },
    (request, reply) => {
      const { caller, ...folder } = request.body;
      const session = guest(request.params.id, caller);
      return answer(session.listFiles({ ...withoutAbsent(folder), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/search`,
    { ...call, schema: { params: params.sandbox, body: wire.search } },
    (request, reply) => {
      const { caller, flags, ...search } = request.body;
      const session = guest(request.params.id, caller);
      return answer(session.search({ ...search, ...withoutAbsent(flags), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/commands/:callId`,
    { ...call, schema: { params: params.command, body: wire.record } },
    (request, reply) => {
      const { id, callId } = request.params;
      return answer(guest(id, request.body.caller).readCommand({ callId, signal: signalOf(reply) }));
    },
  );
  addProcessRoutes(app, deps);
}

function addProcessRoutes(app: HostApp, { host }: HostApiDependencies): void {
  const call = { bodyLimit: CALL_LIMIT };
  app.post(
    `${API_ROOT}/:id/processes`,
    { ...call, schema: { params: params.sandbox, body: wire.startProcess } },
    (request, reply) => {
      const { caller, ...command } = request.body;
      const session = host.guest(request.params.id, caller);
      return answer(session.startProcess({ ...withoutAbsent(command), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/processes/:processId/read`,
    { ...call, schema: { params: params.process, body: wire.readProcess } },
    (request, reply) => {
      const { id, processId } = request.params;
      const { caller, ...from } = request.body;
      const session = host.guest(id, caller);
      return answer(session.readProcess({ processId, ...withoutAbsent(from), signal: signalOf(reply) }));
    },
  );
  app.post(
    `${API_ROOT}/:id/processes/:processId/stop`,
    { ...call, schema: { params: params.process, body: wire.stopProcess } },
    (request, reply) => {
      const { id, processId } = request.params;
      const session = host.guest(id, request.body.caller);
      return answer(session.stopProcess({ processId, signal: signalOf(reply) }));
    },
  );
}

async function answer<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toHttpError(error);
  }
}

/** A field that was not sent is absent, not `undefined`: the calls tell the two apart. */
export function withoutAbsent<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}
