import {
  GuestError,
  type CommandRecord,
  type ExecRequest,
  type ExecResult,
  type ListFilesRequest,
  type ListFilesResult,
  type ProcessOutput,
  type ReadFileRequest,
  type ReadFileResult,
  type SandboxCaller,
  type SearchRequest,
  type SearchResult,
  type StartProcessRequest,
  type VmGuestSession,
  type WriteFileRequest,
} from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { LiveOutput } from '../guest/live-output.ts';
import type { HostConnection } from './host-connection.ts';

/** What a file call may take, without its bytes and for each of them, in milliseconds. */
const FILE_MS = 10_000;
const MS_PER_BYTE = 1 / 1_000;
const PROCESS_MS = 10_000;
const HOME = '/home/user';

/** A guest on another machine. A broken connection is a lost session: what ran is told by its record, nothing is done twice. */
export class RemoteGuest implements VmGuestSession {
  readonly kind = 'vm';
  readonly home = HOME;
  readonly id: string;
  readonly #host: HostConnection;
  readonly #caller: SandboxCaller;

  constructor(host: HostConnection, sandboxId: string, caller: SandboxCaller) {
    this.#host = host;
    this.id = sandboxId;
    this.#caller = caller;
  }

  async exec({ signal, onOutput, spool, ...command }: ExecRequest): Promise<ExecResult> {
    const live = onOutput === undefined ? null : new LiveOutput(onOutput);
    const withOutput = live !== null || spool !== undefined;
    let result: ExecResult | null = null;
    const take = async (event: string, data: string) => {
      if (event === 'result') result = JSON.parse(data) as ExecResult;
      if (event !== 'stdout' && event !== 'stderr') return;
      const bytes = Buffer.from(data, 'base64');
      live?.push(event, bytes);
      await spool?.(event, bytes);
    };
    try {
      const body = { ...command, withOutput, caller: this.#caller };
      const limitMs = command.timeoutMs;
      await this.#host.stream({ path: `/${this.id}/exec`, body, limitMs, signal }, take);
    } catch (error) {
      throw toLost(error);
    } finally {
      live?.end();
    }
    if (result === null) throw lost('the connection ended before the command did');
    return result;
  }

  readFile({ signal, ...file }: ReadFileRequest): Promise<ReadFileResult> {
    return this.#call('read-file', file, FILE_MS + (file.length ?? 0) * MS_PER_BYTE, signal);
  }
  writeFile({
    signal,
    ...file
  }: WriteFileRequest): Promise<{ path: string; bytes: number; created: boolean }> {
    return this.#call('write-file', file, FILE_MS + file.content.length * MS_PER_BYTE, signal);
  }
  listFiles({ signal, ...folder }: ListFilesRequest): Promise<ListFilesResult> {
    return this.#call('list-files', folder, FILE_MS, signal);
  }
  search({ signal, pattern, path, timeoutMs, ...flags }: SearchRequest): Promise<SearchResult> {
    return this.#call('search', { pattern, path, timeoutMs, flags }, timeoutMs, signal);
  }
  startProcess({ signal, ...command }: StartProcessRequest): Promise<{ processId: string; pid: number }> {
    return this.#call('processes', command, PROCESS_MS, signal);
  }
  readProcess(request: { processId: string; offset?: number; signal?: AbortSignal }): Promise<ProcessOutput> {
    const { processId, signal, ...from } = request;
    return this.#call(`processes/${encodeURIComponent(processId)}/read`, from, PROCESS_MS, signal);
  }
  stopProcess(request: { processId: string; signal?: AbortSignal }): Promise<ProcessOutput> {
    const path = `processes/${encodeURIComponent(request.processId)}/stop`;
    return this.#call(path, {}, PROCESS_MS, request.signal);
  }
  readCommand(request: { callId: string; signal?: AbortSignal }): Promise<CommandRecord> {
    return this.#call(`commands/${encodeURIComponent(request.callId)}`, {}, PROCESS_MS, request.signal);
  }

  async #call<T>(path: string, body: object, limitMs: number, signal: AbortSignal | undefined): Promise<T> {
    try {
      const sent = { ...body, caller: this.#caller };
      return await this.#host.call<T>({ path: `/${this.id}/${path}`, body: sent, limitMs, signal });
    } catch (error) {
      throw toLost(error);
    }
  }
}

function toLost(error: unknown): unknown {
  const isUnreachable = error instanceof AppError && error.code === 'sandbox.unreachable';
  return isUnreachable ? lost(error.message) : error;
}

function lost(why: string): GuestError {
  return new GuestError(
    'session-lost',
    `The connection to the VM is lost: ${why}`,
    'Whether the call was carried out is not known. Claim a VM again: it comes with the files that were on its disk.',
  );
}
