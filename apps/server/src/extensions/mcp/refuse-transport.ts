import type { McpTransport } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';

/** A program runs with the rights of Vitto itself: it is the owner's to name one. */
export function stdioNotAllowed(): AppError {
  return new AppError(
    'mcp.stdio-not-allowed',
    'Only the owner of this Vitto may use a program as a server.',
    {
      status: 403,
      hint: 'A program runs on the machine of the worker. Use a server with a URL, or ask the owner.',
    },
  );
}

/**
 * Records of servers are shown and backed up as they are; secrets belong into the vault.
 * @throws AppError `mcp.raw-secret`, naming each place.
 */
export function refuseRawSecrets(transport: McpTransport): void {
  const raw = valuesOf(transport).filter(({ name, value }) => isRawSecret(name, value));
  if (raw.length === 0) return;
  throw new AppError('mcp.raw-secret', 'A value looks like a secret itself.', {
    status: 422,
    hint: 'Put it into the vault under a name (Settings, "Secrets") and write {{secret:NAME}} here.',
    errors: raw.map(({ path }) => ({ path: `transport.${path}`, message: 'looks like a secret' })),
  });
}

interface Value {
  path: string;
  /** The word before it, by which a secret may be known. */
  name: string;
  value: string;
}

function valuesOf(transport: McpTransport): Value[] {
  if (transport.kind === 'http') {
    return [...pairs('headers', transport.headers), { path: 'url', name: 'url', value: transport.url }];
  }
  const args = transport.args.map((value, index) => ({ path: `args.${index}`, name: 'argument', value }));
  return [...pairs('env', transport.env), ...args];
}

function pairs(where: string, values: Record<string, string>): Value[] {
  return Object.entries(values).map(([name, value]) => ({ path: `${where}.${name}`, name, value }));
}

function isRawSecret(name: string, value: string): boolean {
  // The names of secrets are none; what stands around them may be one.
  const rest = `${name}: ${value.replaceAll(/\{\{secret:\w+\}\}/g, '$')}`;
  return maskSecrets(rest) !== rest;
}
