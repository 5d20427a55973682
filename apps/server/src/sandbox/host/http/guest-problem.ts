import { GuestError, type GuestErrorCode, type Problem } from '@vitto/contracts';
import { AppError } from '../../../kernel/app-error.ts';

/** What a refusal of a guest is over HTTP; its code is carried as `guest.<code>`, so that both ends mean the same. */
const STATUS: Record<GuestErrorCode, number> = {
  'bad-path': 422,
  outside: 403,
  'not-found': 404,
  'not-a-file': 409,
  'not-a-directory': 409,
  'read-only': 403,
  denied: 403,
  'too-large': 413,
  'no-space': 507,
  changed: 409,
  'bad-pattern': 422,
  'no-such-process': 404,
  'timed-out': 504,
  unavailable: 503,
  'session-lost': 410,
};
const PREFIX = 'guest.';

/** Anything that a call into a guest threw, as it is told over HTTP. */
export function toHttpError(error: unknown): unknown {
  if (!(error instanceof GuestError)) return error;
  return new AppError(`${PREFIX}${error.code}`, error.message, {
    status: STATUS[error.code],
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}

/** The error that the other end had, from its problem details. */
export function fromProblem(problem: Problem): AppError | GuestError {
  const code = problem.code.slice(PREFIX.length) as GuestErrorCode;
  if (problem.code.startsWith(PREFIX) && Object.hasOwn(STATUS, code)) {
    return new GuestError(code, problem.title, problem.hint);
  }
  return new AppError(problem.code, problem.title, {
    status: problem.status,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...(problem.details === undefined ? {} : { details: problem.details }),
  });
}
