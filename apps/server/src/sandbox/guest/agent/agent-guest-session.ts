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
  type SearchRequest,
  type SearchResult,
  type StartProcessRequest,
  type VmGuestSession,
  type WriteFileRequest,
} from '@vitto/contracts';
import { folderPrefix } from '../asked-path.ts';
import { assertCommand, clamp, contentBytes, environmentLines, stdinBytes } from '../command-checks.ts';
import { FAILURES } from '../failure-words.ts';
import { pageOf } from '../list-page.ts';
import { toText } from '../odd-names.ts';
import { readRange, readResult } from '../read-result.ts';
import { execInGuest } from './exec-in-guest.ts';
import { FLAG } from './frame-types.ts';
import type { GuestCommand } from './guest-command.ts';
import { listGuestFolder, readGuestFile, writeGuestFile } from './guest-files.ts';
import { guestPath, type GuestPath } from './guest-path.ts';
import { GuestProcesses } from './guest-processes.ts';
import { callRecordName, readCommandRecord, RECORDS_FOLDER } from './guest-records.ts';
import { searchGuest } from './guest-search.ts';
import type { CallLink } from './with-limit.ts';

/** Output of one command, after which it is ended: as in the process sandbox. */
const OUTPUT_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 0x7fff_ffff;

export interface AgentGuestOptions {
  /** The machine's id: its files are there as long as it is. */
  id: string;
  /** Whose calls these are; records of commands are told apart by it. */
  taskId?: string | null;
  outputBytes?: number;
  /** Other than in a machine only where the agent runs on an ordinary host, in tests. */
  home?: string;
  recordsFolder?: string;
}

/**
 * The guest behind an agent. Holds nothing of its own: as many of them as there are callers share one connection, and
 * with a new connection a new one goes on where the old one was. After a break every call fails with `session-lost`.
 */
export class AgentGuestSession implements VmGuestSession {
  readonly kind = 'vm';
  readonly id: string;
  readonly home: string;
  readonly #link: CallLink;
  readonly #taskId: string | null;
  readonly #outputBytes: number;
  readonly #recordsFolder: string;
  readonly #processes: GuestProcesses;

  constructor(link: CallLink, options: AgentGuestOptions) {
    this.#link = link;
    this.id = options.id;
    this.home = options.home ?? '/home/user';
    this.#taskId = options.taskId ?? null;
    this.#outputBytes = options.outputBytes ?? OUTPUT_BYTES;
    this.#recordsFolder = options.recordsFolder ?? RECORDS_FOLDER;
    this.#processes = new GuestProcesses(link, this.#recordsFolder);
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    request.signal?.throwIfAborted();
    const { callId, stdin = '', timeoutMs, signal } = request;
    const command: GuestCommand = {
      ...this.#shell(request),
      flags: (callId === undefined ? 0 : FLAG.record) | (stdin === '' ? 0 : FLAG.stdin),
      record: callId === undefined ? '' : callRecordName(this.#taskId, callId),
      timeoutMs: clamp(timeoutMs, 1, LONGEST_MS),
      signal,
      ...(stdin === '' ? {} : { stdin: stdinBytes(stdin) }),
    };
    try {
      return await execInGuest(this.#link, command, request, this.#outputBytes);
    } catch (error) {
      throw aboutFolder(error);
    }
  }

  async readFile(request: ReadFileRequest): Promise<ReadFileResult> {
    const range = readRange(request);
    const part = await readGuestFile(this.#link, this.#path(request.path).absolute, {
      ...range,
      signal: request.signal,
    });
    return readResult(part.body, { ...part, offset: range.offset, encoding: request.encoding });
  }

  async writeFile(request: WriteFileRequest): Promise<{ path: string; bytes: number; created: boolean }> {
    const { absolute, asked } = this.#path(request.path);
    const { mode, expectSha256: expected, signal } = request;
    const content = contentBytes(request.content, request.encoding, Infinity);
    if (expected !== undefined && expected !== 'absent' && !/^[0-9a-f]{64}$/.test(expected)) {
      throw new GuestError('changed', FAILURES.changed.message, FAILURES.changed.hint);
    }
    const { created } = await writeGuestFile(this.#link, absolute, content, {
      mode: mode === undefined ? undefined : mode & 0o777,
      expected,
      signal,
    });
    return { path: toText(asked), bytes: content.length, created };
  }

  async listFiles(request: ListFilesRequest): Promise<ListFilesResult> {
    const { absolute, asked } = this.#path(request.path);
    const depth = clamp(request.depth ?? 1, 1, 32);
    const found = await listGuestFolder(this.#link, absolute, { depth, signal: request.signal });
    const { page, nextCursor } = pageOf(found, request.cursor ?? null, clamp(request.limit ?? 500, 1, 5000));
    const prefix = folderPrefix(asked);
    const entries = page.map(({ name, type, size }) => ({ path: toText(prefix + name), type, size }));
    return { entries, total: found.length, nextCursor };
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const home = guestPath('.', this.home).absolute;
    const timeoutMs = clamp(request.timeoutMs, 1, LONGEST_MS);
    return searchGuest(this.#link, this.#path(request.path), { ...request, timeoutMs }, home);
  }

  async startProcess(request: StartProcessRequest): Promise<{ processId: string; pid: number }> {
    request.signal?.throwIfAborted();
    return this.#processes
      .start({ ...this.#shell(request), signal: request.signal })
      .catch((error: unknown) => {
        throw aboutFolder(error);
      });
  }

  async readProcess(request: {
    processId: string;
    offset?: number;
    signal?: AbortSignal;
  }): Promise<ProcessOutput> {
    return this.#processes.read(request.processId, request.offset, request.signal);
  }

  async stopProcess(request: { processId: string; signal?: AbortSignal }): Promise<ProcessOutput> {
    return this.#processes.stop(request.processId, request.signal);
  }

  async readCommand({ callId, signal }: { callId: string; signal?: AbortSignal }): Promise<CommandRecord> {
    const name = callRecordName(this.#taskId, callId);
    return readCommandRecord(this.#link, this.#recordsFolder, name, signal);
  }

  #path(path: string): GuestPath {
    return guestPath(path, this.home);
  }

  #shell({ command, cwd = '.', env }: StartProcessRequest): Pick<GuestCommand, 'argv' | 'cwd' | 'env'> {
    assertCommand(command);
    return {
      argv: ['/bin/sh', '-c', command],
      cwd: this.#path(cwd).absolute,
      env: environmentLines(env),
    };
  }
}

/** A command that is refused for a path is refused for its folder. */
function aboutFolder(error: unknown): unknown {
  if (!(error instanceof GuestError)) return error;
  if (error.code === 'not-found') return new GuestError('not-found', 'The working directory does not exist.');
  if (error.code === 'not-a-directory')
    return new GuestError('not-a-directory', 'The working directory is no folder.');
  return error;
}
