import type { Command } from 'commander';
import { createContext } from '../context.ts';
import { becomeServer } from '../server-program.ts';

interface StartOptions {
  port?: string;
  host?: string;
  home?: string;
  model?: string;
  roles?: string;
}

/** Flags become the variables that the server reads, which checks them; what is not known here is handed on. */
export function addStart(program: Command): void {
  withServerOptions(program.command('start'))
    .description('Run the server in the foreground; Ctrl-C stops it')
    .option('--roles <list>', 'what this process does (VITTO_ROLES)')
    .action((options: StartOptions, command: Command) => {
      const roles = options.roles === undefined ? {} : { VITTO_ROLES: options.roles };
      becomeServer(createContext(command).environment, { ...variablesOf(options), ...roles }, command.args);
    });
}

export function addWorker(program: Command): void {
  withServerOptions(program.command('worker'))
    .description('Run a worker in the foreground that shares the database of a server')
    .action((options: StartOptions, command: Command) => {
      const variables = { ...variablesOf(options), VITTO_ROLES: 'worker' };
      becomeServer(createContext(command).environment, variables, command.args);
    });
}

export function addSandboxHost(program: Command): void {
  withServerOptions(program.command('sandbox-host'))
    .description('Run VMs in the foreground for servers and workers that name this host (VITTO_SANDBOX_URL)')
    .action((options: StartOptions, command: Command) => {
      const variables = { ...variablesOf(options), VITTO_ROLES: 'sandbox' };
      becomeServer(createContext(command).environment, variables, command.args);
    });
}

function withServerOptions(command: Command): Command {
  return command
    .option('--port <port>', 'port of the server (VITTO_PORT)')
    .option('--host <host>', 'address to listen on (VITTO_HOST)')
    .option('--home <dir>', 'data directory (VITTO_HOME)')
    .option('--model <list>', 'models to use (VITTO_MODEL)')
    .allowUnknownOption()
    .allowExcessArguments();
}

function variablesOf({ port, host, home, model }: StartOptions): Record<string, string> {
  return {
    ...(port === undefined ? {} : { VITTO_PORT: port }),
    ...(host === undefined ? {} : { VITTO_HOST: host }),
    ...(home === undefined ? {} : { VITTO_HOME: home }),
    ...(model === undefined ? {} : { VITTO_MODEL: model }),
  };
}
