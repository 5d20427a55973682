/** What the exit code of `vitto` says. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notSignedIn: 4,
  /** Refused, or it waits for a person and there is nobody to ask. */
  waiting: 5,
  cancelled: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An expected failure of a command, told in one or two lines: what, why, and what to do. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** Stable and dotted, for programs that read `--json`. */
  readonly code: string;
  readonly hint: string | undefined;
  constructor(exitCode: ExitCode, code: string, message: string, hint?: string) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
  }
}
