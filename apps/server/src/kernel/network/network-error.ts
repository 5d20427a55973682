import { AppError } from '../app-error.ts';

/**
 * Failures of guarded requests. They name what was asked for, never an address that was found out on the way.
 * `network.unsupported`, `.address-refused`, `.host-refused`, `.dns`, `.tls`, `.unreachable`, `.cut`,
 * `.bad-response`, `.timeout`, `.too-large`, `.redirects`, `.downgrade`.
 */
export function networkError(code: string, message: string, hint?: string, cause?: unknown): AppError {
  return new AppError(`network.${code}`, message, {
    status: 502,
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  });
}

export function addressRefused(hostname: string): AppError {
  return networkError(
    'address-refused',
    `${hostname} is not an address of the public internet, so it is not opened.`,
    'Local, private and metadata addresses cannot be reached from here.',
  );
}

export function nameNotFound(hostname: string, cause?: unknown): AppError {
  return networkError('dns', `The name ${hostname} was not found.`, 'Check how it is spelt.', cause);
}

export function timedOut(host: string, cause?: unknown): AppError {
  return networkError('timeout', `${host} did not answer completely in time.`, 'Try again later.', cause);
}

export function tooLarge(host: string, maxBytes: number): AppError {
  return networkError('too-large', `The answer of ${host} is larger than ${maxBytes} bytes.`);
}

/** Makes the stable failure of whatever the HTTP client threw while it talked to `host`. */
export function toNetworkError(error: unknown, host: string): AppError {
  const chain = causes(error);
  const known = chain.find((link): link is AppError => link instanceof AppError);
  if (known !== undefined) return known;
  const codes = chain.map((link) => link.code ?? '');
  const kind = KINDS.find(({ pattern }) => codes.some((code) => pattern.test(code)));
  if (kind !== undefined) return kind.make(host, error);
  // The list of ports that no web client opens is the client's own (Fetch standard, "bad port").
  if (chain.some((link) => link.message === 'bad port')) return portRefused(host);
  return networkError('bad-response', `The answer of ${host} could not be read.`, undefined, error);
}

function portRefused(host: string): AppError {
  return networkError('unsupported', `The port of ${host} belongs to something other than the web.`);
}

const KINDS: { pattern: RegExp; make: (host: string, cause: unknown) => AppError }[] = [
  { pattern: /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/, make: nameNotFound },
  { pattern: /^(UND_ERR_\w+_TIMEOUT|ETIMEDOUT|ETIMEOUT)$/, make: timedOut },
  {
    pattern: /HEADERS?_OVERFLOW/,
    make: (host, cause) =>
      networkError('too-large', `The headers of the answer of ${host} are too large.`, undefined, cause),
  },
  {
    pattern:
      /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/,
    make: (host, cause) =>
      networkError('tls', `No trusted, secure connection to ${host} could be made.`, undefined, cause),
  },
  {
    pattern: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM|ENETDOWN|EINVAL)$/,
    make: (host, cause) => networkError('unreachable', `${host} cannot be reached.`, undefined, cause),
  },
  {
    pattern: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    make: (host, cause) =>
      networkError('cut', `${host} ended the connection early.`, 'Try again later.', cause),
  },
];

/** The error and what caused it, and each of several that happened at once. */
function causes(error: unknown): (Error & { code?: string })[] {
  const found: Error[] = [];
  const open = [error];
  while (open.length > 0 && found.length < 20) {
    const next = open.shift();
    if (!(next instanceof Error)) continue;
    found.push(next);
    open.push(next.cause);
    if (next instanceof AggregateError) open.push(...(next.errors as unknown[]));
  }
  return found;
}
