import type { Problem } from '@vitto/contracts';

/** A request that did not do what it was for: the server's problem details, or why there was no answer. */
export class ApiError extends Error {
  /** HTTP status; 0 when the server was not reached. */
  readonly status: number;
  /** Stable: the server's, or `network`, `shape`, `http`. */
  readonly code: string;
  readonly hint: string | undefined;
  /** The fields at fault, where the server named any. */
  readonly fields: readonly { path: string; message: string }[];

  constructor(
    status: number,
    code: string,
    message: string,
    hint?: string,
    fields: readonly { path: string; message: string }[] = [],
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.fields = fields;
  }

  static fromProblem(status: number, problem: Problem): ApiError {
    const message = problem.title;
    const fields = (problem.errors ?? [])
      .filter((field) => !message.includes(field.message))
      .map((field) => `${field.path}: ${field.message}`)
      .join('; ');
    return new ApiError(
      status,
      problem.code,
      fields === '' ? message : `${message} (${fields})`,
      problem.hint,
      problem.errors,
    );
  }
}

/** What was caught, as an `ApiError`. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error));
}

/** True when the request may have been done although it failed here: only the same key may be sent again. */
export function mayHaveArrived(error: ApiError): boolean {
  return error.status === 0 || error.status >= 500 || error.code === 'idempotency.in-progress';
}
