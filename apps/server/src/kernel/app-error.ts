/**
 * An expected failure with a stable code, told to people as it is: what was wrong, where, and what to do.
 * Everything else that is thrown is a defect and is shown as `internal` without its text.
 */
export class AppError extends Error {
  /** Stable, dotted, for programs: `task.not-found`. */
  readonly code: string;
  /** HTTP status that fits. */
  readonly status: number;
  /** What to do next. */
  readonly hint: string | undefined;
  /** Fields at fault, as path and message. */
  readonly errors: { path: string; message: string }[] | undefined;
  /** Facts for programs that act on the code. */
  readonly details: Record<string, string | number> | undefined;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      hint?: string;
      errors?: { path: string; message: string }[];
      details?: Record<string, string | number>;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = options.status ?? 400;
    this.hint = options.hint;
    this.errors = options.errors;
    this.details = options.details;
  }
}

/** The error for an id that does not exist or belongs to somebody else: the two are not told apart. */
export function notFound(what: string): AppError {
  return new AppError(`${what}.not-found`, `There is no such ${what}.`, { status: 404 });
}

/** The text of anything thrown, for logs and events. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : JSON.stringify(error);
}
