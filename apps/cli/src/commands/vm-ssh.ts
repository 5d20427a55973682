import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { createContext, type Context } from '../context.ts';
import { resolveMachine } from '../resolve-machine.ts';
import { splitAtDashes } from '../shell-words.ts';
import { joinSshStream } from '../ssh-stream.ts';
import { shortId } from '../text/format.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
/** The names of what the inner `vitto` is told: `ssh` runs a proxy by a line for the shell, which must hold no values. */
const PROXY = '"$VITTO_SSH_NODE" "$VITTO_SSH_MAIN" vm ssh-stream "$VITTO_SSH_MACHINE" "$VITTO_SSH_KEY"';

export function addVmSsh(vm: Command): void {
  vm.command('ssh')
    .description('Open a shell in my machine, or run a command there by ssh')
    .usage('[options] [id] [-- COMMAND…]')
    .argument('[words...]', 'the machine, then -- and a command for its shell')
    .action((words: string[], _options: object, command: Command) =>
      openShell(createContext(command), words),
    );
  vm.command('ssh-stream', { hidden: true })
    .description('Join stdin and stdout to the ssh of a machine')
    .argument('<id>')
    .argument('<public-key>', 'a file')
    .action(async (id: string, file: string, _options: object, command: Command) => {
      await joinSshStream(createContext(command).api, id, await readFile(file, 'utf8'));
    });
}

async function openShell(context: Context, words: string[]): Promise<void> {
  const { id, command } = splitAtDashes(words, process.argv);
  const machine = await resolveMachine(context.api, id);
  if (machine.state !== 'running') context.output.note('Starting the machine …');
  // A key for this session alone, which nobody else can read and which is gone with it.
  const folder = await mkdtemp(join(tmpdir(), 'vitto-ssh-'));
  try {
    makeKey(join(folder, 'key'));
    process.exitCode = await runSsh(context, machine.id, folder, command);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function makeKey(file: string): void {
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file], {
    encoding: 'utf8',
  });
  if (made.error !== undefined) throw noSsh('ssh-keygen');
  if (made.status !== 0) throw new CliError(EXIT.failed, 'cli.no-key', `ssh-keygen failed: ${made.stderr}`);
}

function runSsh(context: Context, id: string, folder: string, command: string[]): Promise<number> {
  const options = [
    `ProxyCommand=${PROXY}`,
    `IdentityFile=${join(folder, 'key')}`,
    'IdentitiesOnly=yes',
    // The stream is the machine's by the API's own word; its keys are made anew with each machine.
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'ServerAliveInterval=30',
  ];
  // No file of the user's: an agent or a port that is forwarded everywhere else has no business in there.
  const args = ['-F', 'none', ...options.flatMap((option) => ['-o', option])];
  const child = spawn('ssh', [...args, '--', `user@vitto-${shortId(id)}`, ...command], {
    stdio: 'inherit',
    env: { ...context.environment, ...proxyEnvironment(context, id, folder) },
  });
  // Ctrl-C is for the program in the machine; the key must go whatever ends us.
  const pass = (signal: NodeJS.Signals) => void (signal === 'SIGINT' || child.kill(signal));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.once('error', () => reject(noSsh('ssh')));
    child.once('exit', (code) => resolve(code ?? EXIT.cancelled));
  }).finally(() => {
    for (const signal of signals) process.off(signal, pass);
  });
}

/** A token on a command line is everybody's to read; in the environment it is ours alone. */
function proxyEnvironment({ api, url }: Context, id: string, folder: string): Record<string, string> {
  return {
    VITTO_SSH_NODE: process.execPath,
    VITTO_SSH_MAIN: MAIN,
    VITTO_SSH_MACHINE: id,
    VITTO_SSH_KEY: join(folder, 'key.pub'),
    VITTO_URL: url.href,
    ...(api.token === undefined ? {} : { VITTO_TOKEN: api.token }),
  };
}

function noSsh(program: string): CliError {
  return new CliError(
    EXIT.failed,
    'cli.no-ssh',
    `There is no program "${program}" here.`,
    'Install the client of OpenSSH (on Debian: apt install openssh-client).',
  );
}
