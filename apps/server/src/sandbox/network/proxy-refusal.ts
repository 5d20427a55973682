import { AppError } from '../../kernel/app-error.ts';

/** What a guest is told instead of an answer. The reason is one line: package managers show it, and no body. */
export interface ProxyRefusal {
  status: 400 | 403 | 502 | 503 | 504;
  reason: string;
  /** What to do. */
  hint: string;
}

export function badTarget(why: string): ProxyRefusal {
  return {
    status: 403,
    reason: `Not through this proxy: ${why}`,
    hint: 'Only http and https to host names that are allowed leave this machine.',
  };
}

export function hostNotAllowed(host: string): ProxyRefusal {
  return {
    status: 403,
    reason: `${host} is not on the list of allowed hosts`,
    hint: `Whoever owns this task can allow it in Vitto under Settings, Machines: add ${host}. It cannot be allowed from here.`,
  };
}

export function tooManyConnections(most: number): ProxyRefusal {
  return {
    status: 503,
    reason: `More than ${most} connections at once`,
    hint: 'Close some, or wait until others have ended.',
  };
}

/** Says why a host that is allowed cannot be reached; an address that was found out on the way is not named. */
export function notReached(host: string, error: unknown): ProxyRefusal {
  const code = error instanceof AppError ? error.code : '';
  if (code === 'network.address-refused') {
    return {
      status: 403,
      reason: `${host} leads to an address that is not on the public internet`,
      hint: 'Local, private and metadata addresses are not reached from a machine, whatever name leads to them.',
    };
  }
  if (code === 'network.timeout') {
    return { status: 504, reason: `${host} did not answer in time`, hint: 'Try again later.' };
  }
  if (code === 'network.dns') {
    return { status: 502, reason: `${host} was not found`, hint: 'Check how the name is spelt.' };
  }
  return { status: 502, reason: `${host} cannot be reached`, hint: 'Try again later.' };
}

export function bodyOf({ reason, hint }: ProxyRefusal): string {
  return `Vitto: ${reason}.\n${hint}\n`;
}
