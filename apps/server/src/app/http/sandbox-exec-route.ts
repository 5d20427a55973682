import type { ExecRequest, ExecResult, NetworkPolicy, SandboxInfo } from '@vitto/contracts';
import { z } from 'zod';
import { idParams, viewerOf, type WebApp } from '../../channels/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import {
  holdClaim,
  signalOf,
  SseWriter,
  toHttpError,
  wantsStream,
  type SandboxHosts,
} from '../../sandbox/index.ts';
import { toProblem } from './problem.ts';

export interface SandboxRouteDependencies {
  sandboxHosts: SandboxHosts;
  readNetworkPolicy: (userId: string) => Promise<NetworkPolicy>;
  /** Of a command that names no limit, in milliseconds. */
  commandTimeoutMs: number;
  logger: Logger;
}

const execBody = z.strictObject({
  command: z.string().min(1).max(1_048_576),
  cwd: z.string().min(1).max(8_192).optional(),
  stdin: z.string().optional(),
  timeoutMs: z.number().int().min(1_000).max(86_400_000).optional(),
});

/** A command of a person in the person's own machine, which is started when it does not run. */
export function addSandboxExecRoute(app: WebApp, deps: SandboxRouteDependencies): void {
  app.post(
    '/api/sandbox/:id/exec',
    {
      config: { scope: 'run', audit: { none: 'it may become a stream; the entry is written before' } },
      schema: {
        tags: ['sandbox'],
        summary: 'Run a command in my machine',
        description:
          'With `Accept: text/event-stream` the events `waiting` (the place in the line), `stdout` and `stderr` (bytes in base64), then `result` or `problem`; else one answer when it has ended. Whoever goes away ends the command.',
        params: idParams,
        body: execBody,
        response: { 200: z.any() },
      },
    },
    async (request, reply) => {
      const { userId } = viewerOf(request);
      const { sandbox } = await deps.sandboxHosts.find(request.params.id, userId);
      const signal = signalOf(reply);
      await request.recordAudit({ action: 'sandbox.command-run', object: 'sandbox', objectId: sandbox.id });
      const sse = wantsStream(request) ? new SseWriter(reply) : null;
      const result = runForPerson(deps, sandbox, { ...request.body, signal }, sse);
      if (sse === null) return result;
      await sse.finish('result', result, (error) => {
        const { problem, isDefect } = toProblem(error, request.id);
        if (isDefect) deps.logger.error({ err: error, reference: request.id }, 'a command failed');
        return problem;
      });
      return reply;
    },
  );
}

/** @throws AppError `sandbox.…`, `guest.…`. */
async function runForPerson(
  deps: SandboxRouteDependencies,
  sandbox: SandboxInfo,
  command: z.output<typeof execBody> & { signal: AbortSignal },
  sse: SseWriter | null,
): Promise<ExecResult> {
  const { signal, cwd, stdin, timeoutMs = deps.commandTimeoutMs } = command;
  const claim = await holdClaim(deps.sandboxHosts, sandbox, {
    network: await deps.readNetworkPolicy(sandbox.userId),
    signal,
    onWaiting: (waiting) => void sse?.send('waiting', JSON.stringify(waiting)),
  });
  const run: ExecRequest = {
    command: command.command,
    timeoutMs,
    signal,
    ...(cwd === undefined ? {} : { cwd }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(sse === null ? {} : { spool: (stream, bytes) => sse.sendBytes(stream, bytes) }),
  };
  try {
    return await claim.host.guest(claim.sandbox.sandboxId, { taskId: claim.taskId, fence: 0 }).exec(run);
  } catch (error) {
    throw toHttpError(error);
  } finally {
    claim.letGo().catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'a command did not let its machine go');
    });
  }
}
