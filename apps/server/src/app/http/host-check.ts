import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/app-error.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * The names under which this server is asked for; `null` when it may be any (bound to a network, where its name is
 * for the administrator to give). On loopback a page of another site whose name points here would otherwise pass
 * for Vitto's own.
 */
export function toAllowedHosts(options: {
  host: string;
  publicUrl: string;
  allowedHosts: string[];
}): Set<string> | null {
  if (!isLoopback(options.host)) return null;
  return new Set([...LOOPBACK, new URL(options.publicUrl).hostname, ...options.allowedHosts]);
}

/** @throws AppError `request.unknown-host` (421). */
export function checkHost(request: FastifyRequest, allowed: Set<string> | null): void {
  if (allowed === null || allowed.has(toHostname(request.headers.host))) return;
  throw new AppError('request.unknown-host', 'Vitto is not known under this name.', {
    status: 421,
    hint: 'Open it as http://127.0.0.1 or under its configured address.',
  });
}

function toHostname(host: string | undefined): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}
