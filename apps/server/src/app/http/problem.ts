import type { Problem } from '@vitto/contracts';
import type { FastifyError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { AppError } from '../../kernel/app-error.ts';
import { databaseAway, isDatabaseAway, isDiskFull } from '../../kernel/database/database.ts';

/** A client waits this long, in seconds, before it tries again after a 503. */
const RETRY_AFTER_SECONDS = 2;

export interface ProblemAnswer {
  problem: Problem;
  headers: Record<string, string>;
  /** True for a fault of the program: it goes to the log, its text to nobody. */
  isDefect: boolean;
}

/**
 * What the caller is told of anything thrown (RFC 9457). `reference` finds the log line of a defect; `bodyLimit`, in
 * bytes, is what the route takes at most.
 */
export function toProblem(error: unknown, reference: string, bodyLimit?: number): ProblemAnswer {
  const known = toAppError(error, bodyLimit);
  if (known === null) {
    const defect = new AppError('internal', 'Something went wrong inside Vitto.', {
      status: 500,
      hint: `The log has the details under the reference ${reference}.`,
    });
    return { problem: { ...describe(defect), instance: reference }, headers: {}, isDefect: true };
  }
  const headers: Record<string, string> = {};
  if (known.status === 503) headers['retry-after'] = String(RETRY_AFTER_SECONDS);
  if (known.status === 401) headers['www-authenticate'] = 'Bearer';
  return { problem: describe(known), headers, isDefect: false };
}

function describe(error: AppError): Problem {
  return {
    type: `urn:vitto:problem:${error.code}`,
    title: error.message,
    status: error.status,
    code: error.code,
    ...(error.hint === undefined ? {} : { hint: error.hint, detail: `${error.message} ${error.hint}` }),
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

function toAppError(error: unknown, bodyLimit?: number): AppError | null {
  if (error instanceof AppError) return error;
  if (isDatabaseAway(error)) return databaseAway(error);
  if (isDiskFull(error)) {
    return new AppError('database.full', "The database's disk is full.", {
      status: 503,
      hint: 'Free some space on it; everything goes on by itself then.',
    });
  }
  if (!(error instanceof Error)) return null;
  if (hasZodFastifySchemaValidationErrors(error)) return toInvalidRequest(error);
  return toFrameworkError(error as FastifyError, bodyLimit);
}

function toInvalidRequest(error: FastifyError): AppError {
  if (error.validationContext === 'params') {
    return new AppError('request.no-such-id', 'There is nothing under the id in this address.', {
      status: 404,
      hint: 'An id is a UUID as the API has given it.',
    });
  }
  const prefix = error.validationContext === 'querystring' ? 'query' : '';
  return new AppError('request.invalid', 'The request does not fit what this route takes.', {
    status: 422,
    hint: 'Look at `errors`: each names its field.',
    errors: (error.validation ?? []).map((issue) => ({
      path: [prefix, ...issue.instancePath.split('/')].filter((part) => part !== '').join('.'),
      message: issue.message ?? 'not valid',
    })),
  });
}

/** Refusals of the HTTP server itself, by its own codes. */
const FRAMEWORK: Record<string, { code: string; message: string; status: number; hint?: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'request.media-type',
    message: 'The body is not JSON.',
    status: 415,
    hint: 'Send JSON with `content-type: application/json`.',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'request.content-length',
    message: 'The body does not have the length that its header says.',
    status: 400,
  },
  FST_ERR_BAD_URL: { code: 'request.bad-url', message: 'The address is not a valid URL.', status: 400 },
};

const MIB = 1024 * 1024;

function tooLarge(bodyLimit: number | undefined): AppError {
  const taken =
    bodyLimit === undefined ? 'what is taken at this address' : `the ${bodyLimit / MIB} MiB of this address`;
  return new AppError('request.too-large', `The request is larger than ${taken}.`, {
    status: 413,
    hint: 'Leave something out, or put long content into a file that Vitto may read.',
  });
}

function toFrameworkError(error: FastifyError, bodyLimit?: number): AppError | null {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(bodyLimit);
  const known = FRAMEWORK[error.code];
  if (known !== undefined) {
    return new AppError(known.code, known.message, {
      status: known.status,
      ...(known.hint === undefined ? {} : { hint: known.hint }),
    });
  }
  const status = error.statusCode ?? 500;
  if (status < 400 || status >= 500) return null;
  return new AppError('request.refused', 'The request cannot be understood.', { status });
}
