import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CliError, EXIT } from './cli-error.ts';

type Environment = Record<string, string | undefined>;

/**
 * Where the server is: as said, by VITTO_URL, by VITTO_PORT on this machine, where the server of this home says that it
 * listens, or the usual port. A variable that is empty, or a port 0 (any free one), says nothing.
 * @throws CliError `cli.bad-url`
 */
export function readServerUrl(given: string | undefined, environment: Environment): URL {
  const port = environment['VITTO_PORT']?.trim();
  const onPort = port === undefined || /^0*$/.test(port) ? undefined : `http://127.0.0.1:${port}`;
  const said = given ?? (environment['VITTO_URL']?.trim() || onPort);
  if (said === undefined) return readOwnAddress(environment) ?? new URL('http://127.0.0.1:4800');
  const url = URL.parse(said);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new CliError(
    EXIT.usage,
    'cli.bad-url',
    `"${said}" is no address of a server.`,
    'Write it as http://HOST:PORT.',
  );
}

/**
 * The address that a server leaves beside the token in its home. The token goes where this says, so it is believed on
 * loopback only.
 */
function readOwnAddress(environment: Environment): URL | undefined {
  const url = URL.parse(readHomeFile('server-address', environment) ?? '');
  return url !== null && url.protocol === 'http:' && isLoopback(url) ? new URL(url.origin) : undefined;
}

/**
 * The token that a server leaves for its own user. It is handed to a server on this machine only: another address
 * must be given its token by name.
 */
export function readOwnToken(url: URL, environment: Environment): string | undefined {
  return isLoopback(url) ? readHomeFile('cli-token', environment) : undefined;
}

/** True when the server runs on this machine, so that paths mean the same to both. */
export function isLoopback(url: URL): boolean {
  const { hostname } = url;
  // Four numbers: a name may begin with `127.` too, and belong to anybody.
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function readHomeFile(name: string, environment: Environment): string | undefined {
  try {
    const home = environment['VITTO_HOME']?.trim() || join(homedir(), '.vitto');
    return readFileSync(join(home, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
