import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ApiClient } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { Output } from './output.ts';

/** What every command gets: where the server is, who asks, and where to write. */
export interface Context {
  output: Output;
  api: ApiClient;
  url: URL;
  /** True when a person can be asked: a terminal on both sides and no `--json`. */
  isInteractive: boolean;
  /** The environment for the server program, read here once. */
  environment: NodeJS.ProcessEnv;
}

export interface GlobalOptions {
  json?: boolean;
  url?: string;
  token?: string;
  verbose?: boolean;
}

/** Reads the global options of a command, and the environment for what they leave open. */
export function createContext(command: Command, environment: NodeJS.ProcessEnv = process.env): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const json = options.json === true;
  const url = readUrl(options.url, environment);
  const token = options.token ?? environment['VITTO_TOKEN'] ?? readOwnToken(url, environment);
  return {
    output: new Output(process.stdout, process.stderr, {
      json,
      verbose: options.verbose === true,
      color: !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
    }),
    api: new ApiClient(url, token),
    url,
    isInteractive: !json && process.stdin.isTTY === true && process.stderr.isTTY === true,
    environment,
  };
}

function readUrl(given: string | undefined, environment: NodeJS.ProcessEnv): URL {
  const text = given ?? environment['VITTO_URL'] ?? `http://127.0.0.1:${environment['VITTO_PORT'] ?? '4800'}`;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CliError(
      EXIT.usage,
      'cli.bad-url',
      `"${text}" is no address of a server.`,
      'Write it as http://HOST:PORT.',
    );
  }
  return url;
}

/**
 * The token that `vitto start` leaves for its own user. It is handed to a server on this machine only: another address
 * must be given its token by name.
 */
function readOwnToken(url: URL, environment: NodeJS.ProcessEnv): string | undefined {
  if (!isLoopback(url)) return undefined;
  try {
    const home = environment['VITTO_HOME'] ?? join(homedir(), '.vitto');
    return readFileSync(join(home, 'cli-token'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** True when the server runs on this machine, so that paths mean the same to both. */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\./.test(url.hostname);
}
