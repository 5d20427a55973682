import { closeSync, existsSync } from 'node:fs';
import {
  GuestError,
  type ExecRequest,
  type ExecResult,
  type GuestSession,
  type ListFilesRequest,
  type ListFilesResult,
  type ProcessOutput,
  type ReadFileRequest,
  type ReadFileResult,
  type SearchRequest,
  type SearchResult,
  type StartProcessRequest,
  type WriteFileRequest,
} from '@vitto/contracts';
import { newId } from '../../../kernel/ids.ts';
import { assertPlainPath, clamp, contentBytes, fileCallMs } from '../../guest/command-checks.ts';
import { readRange, readResult } from '../../guest/read-result.ts';
import { DiskGuard } from './disk-guard.ts';
import { endSandbox, waitForCommand } from './exec-command.ts';
import { findFolder, type FoundFolder } from './allowed-paths.ts';
import { askFileServer } from './file-calls.ts';
import type { FileCall } from './guest/file-server.ts';
import type { GuestRuntime } from './guest-runtime.ts';
import type { HostPrograms } from './host-programs.ts';
import { LongProcess } from './long-process.ts';
import { GUEST, mountArguments } from './mount-plan.ts';
import type { ResourceLimiter } from './resources/resource-group.ts';
import { RunningSandbox, type SandboxStart } from './running-sandbox.ts';
import type { SandboxLimits } from './sandbox-limits.ts';
import { SessionNetwork } from './session-network.ts';
import type { SessionFiles } from './session-store.ts';
import { openStdinFile, supervised } from './supervised-command.ts';

const MAX_PROCESSES = 16;

export interface SessionParts {
  files: SessionFiles;
  programs: HostPrograms;
  runtime: GuestRuntime;
  limiter: ResourceLimiter;
  limits: SandboxLimits;
  /** Resolved host folders, shown read-only. */
  readOnlyPaths: string[];
}

/** One task's process sandbox. Every call is a bubblewrap sandbox of its own over the same home, /tmp and loopback. */
export class ProcessSession implements GuestSession {
  readonly kind = 'process-sandbox';
  readonly home = GUEST.home;
  readonly #parts: SessionParts;
  readonly #disk: DiskGuard;
  readonly #running = new Set<RunningSandbox>();
  readonly #processes = new Map<string, LongProcess>();
  #network: Promise<SessionNetwork> | null = null;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#disk = new DiskGuard(parts.files, parts.programs, parts.limits);
  }

  get id(): string {
    return this.#parts.files.sessionId;
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    request.signal?.throwIfAborted();
    const command = supervised(request);
    const stdin =
      request.stdin === undefined || request.stdin === ''
        ? 'ignore'
        : openStdinFile(this.#parts.files.folder, request.stdin);
    try {
      const sandbox = await this.#start({ command, stdin, hasCpuLimit: true });
      return await waitForCommand(sandbox, request, this.#parts.limits.outputBytes);
    } catch (error) {
      throw this.#isClosed && error instanceof GuestError ? sessionLost() : error;
    } finally {
      if (typeof stdin === 'number') closeSync(stdin);
    }
  }

  async readFile(request: ReadFileRequest): Promise<ReadFileResult> {
    const { offset, length } = readRange(request);
    const call = { call: 'read', path: request.path, offset, length } as const;
    const { head, body } = await this.#ask<{ size: number; sha256: string | null }>(call, {
      signal: request.signal,
    });
    return readResult(body, { ...head, offset, encoding: request.encoding });
  }

  async writeFile(request: WriteFileRequest): Promise<{ path: string; bytes: number; created: boolean }> {
    const content = contentBytes(request.content, request.encoding, this.#parts.limits.fileBytes);
    await this.#disk.reserve(content.length);
    const { path, mode = null, expectSha256 = null } = request;
    const call = { call: 'write', path, mode, expectSha256 } as const;
    const { head } = await this.#ask<{ path: string; bytes: number; created: boolean }>(call, {
      content,
      signal: request.signal,
    });
    return { path: head.path, bytes: head.bytes, created: head.created };
  }

  async listFiles(request: ListFilesRequest): Promise<ListFilesResult> {
    const { path, cursor = null, depth = 1, limit = 500 } = request;
    const call = {
      call: 'list',
      path,
      cursor,
      depth: clamp(depth, 1, 32),
      limit: clamp(limit, 1, 5000),
    } as const;
    const { head } = await this.#ask<ListFilesResult>(call, { signal: request.signal });
    return { entries: head.entries, total: head.total, nextCursor: head.nextCursor };
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const { pattern, path, fixed = false, ignoreCase = false, include = null, timeoutMs } = request;
    // Ends a little before the processor time does, so that what was found until then is returned.
    const grepMs = Math.min(timeoutMs, Math.max(1000, this.#parts.limits.cpuMs - 5000));
    const maxMatches = clamp(request.maxMatches ?? 200, 1, 5000);
    const call = {
      call: 'search',
      pattern,
      path,
      fixed,
      ignoreCase,
      include,
      maxMatches,
      timeoutMs: grepMs,
    } as const;
    const options = { signal: request.signal, timeoutMs: timeoutMs + fileCallMs(0) };
    const { head } = await this.#ask<SearchResult>(call, options);
    return { matches: head.matches, truncated: head.truncated, timedOut: head.timedOut };
  }

  async startProcess(request: StartProcessRequest): Promise<{ processId: string; pid: number }> {
    request.signal?.throwIfAborted();
    if ([...this.#processes.values()].filter((process) => process.isRunning).length >= MAX_PROCESSES) {
      throw new GuestError(
        'no-space',
        `${MAX_PROCESSES} processes run already.`,
        'Stop one that is no longer needed.',
      );
    }
    const sandbox = await this.#start({ command: supervised(request), stdin: 'ignore', hasCpuLimit: false });
    const process = new LongProcess(newId(), sandbox);
    const hasStarted = await sandbox.hasStarted();
    const early = process.read();
    if (!hasStarted) {
      const { isCwdMissing } = await sandbox.ended;
      if (isCwdMissing) throw new GuestError('not-found', 'The working directory does not exist.');
      throw new GuestError(
        'unavailable',
        `The sandbox did not start: ${early.text.split('\n')[0] ?? ''}`,
        'Run `npm run vitto -- doctor`.',
      );
    }
    this.#forgetOldProcesses();
    this.#processes.set(process.id, process);
    return { processId: process.id, pid: sandbox.mainPid ?? 0 };
  }

  async readProcess(request: {
    processId: string;
    offset?: number;
    signal?: AbortSignal;
  }): Promise<ProcessOutput> {
    return this.#process(request.processId).read(request.offset);
  }

  async stopProcess({ processId }: { processId: string; signal?: AbortSignal }): Promise<ProcessOutput> {
    const process = this.#process(processId);
    await process.stop();
    return process.read();
  }

  /** Ends everything that runs and lets go of the network; the files stay. The session cannot be used after it. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((sandbox) => endSandbox(sandbox, 0)));
    await this.#network?.then(
      (network) => network.close(),
      () => undefined,
    );
  }

  async #ask<Head extends object>(
    call: FileCall,
    options: { content?: Buffer; signal?: AbortSignal | undefined; timeoutMs?: number },
  ): Promise<{ head: Head; body: Buffer }> {
    options.signal?.throwIfAborted();
    assertPlainPath(call.path);
    const sandbox = await this.#start({
      command: [GUEST.node, GUEST.fileServer],
      stdin: 'pipe',
      hasCpuLimit: true,
    });
    const writable = [GUEST.home, GUEST.tmp];
    const roots = { home: GUEST.home, writable, readable: [...writable, ...this.#parts.readOnlyPaths] };
    const sized = fileCallMs((options.content?.length ?? 0) + (call.call === 'read' ? call.length : 0));
    return askFileServer<Head>(sandbox, roots, call, {
      ...options,
      timeoutMs: options.timeoutMs ?? sized,
    });
  }

  async #start(start: {
    command: string[];
    stdin: number | 'pipe' | 'ignore';
    hasCpuLimit: boolean;
  }): Promise<RunningSandbox> {
    const { files, programs, runtime, limiter, limits } = this.#parts;
    const [network, onWatch, folders] = await Promise.all([
      this.#openNetwork(),
      this.#disk.watch(),
      this.#findFolders(),
    ]);
    if (this.#isClosed || !existsSync(files.home)) throw sessionLost();
    const group = limiter.create(newId(), limits);
    const sandbox = launchOr(() => group.remove(), {
      ...start,
      command: [...checkFolders(folders), ...start.command],
      programs,
      limits,
      group,
      network,
      onWatch,
      user: files.user,
      filter: runtime.filter,
      joinFiles: group.joinFiles,
      limitsProcessesByRlimit: !limiter.limitsProcesses,
      limitsDataByRlimit: limiter.kind === 'watchdog',
      mounts: mountArguments({
        home: files.home,
        tmp: files.tmp,
        runtime: runtime.folder,
        nodeBinary: runtime.nodeBinary,
        readOnlyPaths: folders.map(({ path }) => path),
      }),
    });
    this.#running.add(sandbox);
    void sandbox.ended.then(() => this.#running.delete(sandbox));
    return sandbox;
  }

  /** Looked for anew for each call, since each mounts them anew: one that is gone or became a link is left out. */
  async #findFolders(): Promise<FoundFolder[]> {
    const found = await Promise.all(this.#parts.readOnlyPaths.map(findFolder));
    return found.filter((folder) => typeof folder !== 'string');
  }

  #openNetwork(): Promise<SessionNetwork> {
    this.#network ??= SessionNetwork.open(this.#parts.programs, this.#parts.files.user).catch(
      (error: unknown) => {
        this.#network = null;
        throw new GuestError(
          'unavailable',
          `The sandbox did not start: ${(error as Error).message}`,
          'Run `npm run vitto -- doctor`.',
        );
      },
    );
    return this.#network;
  }

  #process(processId: string): LongProcess {
    const process = this.#processes.get(processId);
    if (process !== undefined) return process;
    throw new GuestError(
      'no-such-process',
      'There is no such process.',
      'Processes end with the server; start it again.',
    );
  }

  /** What has ended stays readable until 64 of them are kept. */
  #forgetOldProcesses(): void {
    for (const [id, process] of this.#processes) {
      if (this.#processes.size < 64) return;
      if (!process.isRunning) this.#processes.delete(id);
    }
  }
}

/** What comes before a command where folders are shown: it ends the sandbox when one of them is not what was found. */
function checkFolders(folders: FoundFolder[]): string[] {
  if (folders.length === 0) return [];
  const expected = folders.flatMap(({ path, device, inode }) => [path, String(device), String(inode)]);
  return ['/usr/bin/perl', GUEST.folderCheck, String(folders.length), ...expected];
}

/** Starting fails only where the server itself is out of processes or files. */
function launchOr(cleanUp: () => Promise<void>, start: SandboxStart): RunningSandbox {
  try {
    return new RunningSandbox(start);
  } catch (error) {
    void cleanUp();
    throw new GuestError(
      'unavailable',
      `The sandbox did not start: ${(error as Error).message}`,
      'Try again later.',
    );
  }
}

function sessionLost(): GuestError {
  return new GuestError('session-lost', 'The sandbox of this task has been closed.');
}
