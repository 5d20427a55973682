import type { Command } from 'commander';
import { ApiClient } from './api-client.ts';
import { Output } from './output.ts';
import { readOwnToken, readServerUrl } from './server-url.ts';

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
  const url = readServerUrl(options.url, environment);
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
