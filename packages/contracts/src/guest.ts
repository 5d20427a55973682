import type { CommandRecord } from './sandbox.ts';

/**
 * What a tool may do with a guest: a VM or the process sandbox. Structured calls only; nothing here builds a
 * shell line. Paths are strings in the guest's own file system; a name whose bytes are not UTF-8 is written as
 * `listFiles` gave it. Every call honours its `signal` by killing the whole process group it started.
 * Expected refusals (path outside, not found, too large) are thrown as `GuestError`.
 */
export interface GuestSession {
  /** Stable for as long as its files are: a new id means that files of an earlier one are gone. */
  readonly id: string;
  /** Where it runs, for people. */
  readonly kind: 'process-sandbox' | 'vm';
  /** The home and working directory inside the guest. */
  readonly home: string;

  exec(request: ExecRequest): Promise<ExecResult>;
  readFile(request: ReadFileRequest): Promise<ReadFileResult>;
  writeFile(request: WriteFileRequest): Promise<{ path: string; bytes: number; created: boolean }>;
  listFiles(request: ListFilesRequest): Promise<ListFilesResult>;
  search(request: SearchRequest): Promise<SearchResult>;
  startProcess(request: StartProcessRequest): Promise<{ processId: string; pid: number }>;
  readProcess(request: { processId: string; offset?: number; signal?: AbortSignal }): Promise<ProcessOutput>;
  stopProcess(request: { processId: string; signal?: AbortSignal }): Promise<ProcessOutput>;
}

/** A guest in a VM: it also knows how commands ended whose caller is gone. */
export interface VmGuestSession extends GuestSession {
  readonly kind: 'vm';
  /** What the guest recorded of a command that was run with this `callId`. */
  readCommand(request: { callId: string; signal?: AbortSignal }): Promise<CommandRecord>;
}

export interface ExecRequest {
  /** A shell command line, run by `/bin/sh -c` in the guest as its user. */
  command: string;
  /** Absolute, or relative to the home. */
  cwd?: string;
  timeoutMs: number;
  env?: Record<string, string>;
  stdin?: string;
  signal?: AbortSignal;
  /** The call's id: a VM keeps a record of the command under it that outlives this process, its connection and a snapshot. */
  callId?: string;
  /** Decoded output as it comes, in order, at most a few times a second. */
  onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Receives every raw byte, head to end; what `ExecResult` holds is only a head and a tail. Back-pressure by its promise. */
  spool?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => Promise<void>;
}

export interface ExecResult {
  /** `null` when it ended by a signal or was killed. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  /** True when a limit of the sandbox ended it; `limit` says which. */
  limit: 'memory' | 'cpu' | 'output' | 'disk' | 'processes' | null;
  stdout: CapturedOutput;
  stderr: CapturedOutput;
  durationMs: number;
  /** Processes the command left running, which were killed with its group. */
  leftoversKilled: number;
}

/** Bounded capture of a byte stream, decoded as UTF-8 across chunk borders. */
export interface CapturedOutput {
  /** Whole when `missingBytes` is 0, else head and tail joined by a line that says how much is missing. */
  text: string;
  totalBytes: number;
  missingBytes: number;
  /** True when invalid bytes were replaced by U+FFFD. */
  replaced: boolean;
}

export interface ReadFileRequest {
  path: string;
  /** Bytes from the start. */
  offset?: number;
  /** At most this many bytes; default 256 KiB. */
  length?: number;
  encoding: 'utf8' | 'base64';
  signal?: AbortSignal;
}
export interface ReadFileResult {
  content: string;
  /** Size of the whole file. */
  size: number;
  offset: number;
  /** Bytes of this part; the rest begins at offset + bytes. */
  bytes: number;
  truncated: boolean;
  /** True when the part holds NUL or is not UTF-8. */
  binary: boolean;
  /** SHA-256 of the whole file when it was read whole, else `null`. */
  sha256: string | null;
}

export interface WriteFileRequest {
  path: string;
  content: string;
  encoding: 'utf8' | 'base64';
  /** Octal permission bits, as 0o755. Parents are made; the write is atomic (temp and rename). */
  mode?: number;
  /** Fails with `changed` unless the file now has this SHA-256; `'absent'` means it must not exist. */
  expectSha256?: string;
  signal?: AbortSignal;
}

export interface ListFilesRequest {
  path: string;
  /** Levels below `path`; 1 lists the folder itself. */
  depth?: number;
  /** At most this many entries a page; default 500. */
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
  signal?: AbortSignal;
}
export interface ListFilesResult {
  entries: {
    /** As it can be given back to every other call; odd bytes and control characters escaped as \xNN. */
    path: string;
    type: 'file' | 'directory' | 'symlink' | 'other';
    size: number;
  }[];
  total: number;
  nextCursor: string | null;
}

export interface SearchRequest {
  /** POSIX extended regular expression, or fixed text. */
  pattern: string;
  path: string;
  fixed?: boolean;
  ignoreCase?: boolean;
  /** Only files whose name matches this glob. */
  include?: string;
  maxMatches?: number;
  timeoutMs: number;
  signal?: AbortSignal;
}
export interface SearchResult {
  matches: { path: string; line: number; text: string }[];
  /** True when there are more than `maxMatches`. */
  truncated: boolean;
  timedOut: boolean;
}

export interface StartProcessRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  signal?: AbortSignal;
}
export interface ProcessOutput {
  processId: string;
  running: boolean;
  exitCode: number | null;
  signal: string | null;
  /** Output from `offset` on (stdout and stderr together), bounded. */
  text: string;
  nextOffset: number;
  /** Bytes before `text` that are no longer kept. */
  missingBytes: number;
}

/** Why a guest refused. The message never says whether a path outside the allowed roots exists. */
export type GuestErrorCode =
  | 'bad-path'
  | 'outside'
  | 'not-found'
  | 'not-a-file'
  | 'not-a-directory'
  | 'read-only'
  | 'denied'
  | 'too-large'
  | 'no-space'
  | 'changed'
  | 'bad-pattern'
  | 'no-such-process'
  | 'timed-out'
  | 'unavailable'
  | 'session-lost';

export class GuestError extends Error {
  readonly code: GuestErrorCode;
  readonly hint: string | undefined;
  constructor(code: GuestErrorCode, message: string, hint?: string) {
    super(message);
    this.name = 'GuestError';
    this.code = code;
    this.hint = hint;
  }
}
