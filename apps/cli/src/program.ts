import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { commandLine } from './command-line.ts';
import { addApprove } from './commands/approve.ts';
import { addArtifact } from './commands/artifact.ts';
import { addAudit } from './commands/audit.ts';
import { addCancel } from './commands/cancel.ts';
import { addChat } from './commands/chat.ts';
import { addDoctor } from './commands/doctor.ts';
import { addImage } from './commands/image.ts';
import { addMcp } from './commands/mcp.ts';
import { addRecord } from './commands/record.ts';
import { addReplay } from './commands/replay.ts';
import { addShow } from './commands/show.ts';
import { addSkills } from './commands/skills.ts';
import { addSignIn } from './commands/sign-in.ts';
import { addSandboxHost, addStart, addWorker } from './commands/start.ts';
import { addTail } from './commands/tail.ts';
import { addTasks } from './commands/tasks.ts';
import { addVm } from './commands/vm.ts';
import { addVault } from './commands/vault.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 the task failed, 2 bad usage, 3 cannot reach the server, 4 not signed in,
5 refused or waiting for you, 130 cancelled by Ctrl-C.`;

/** The whole command line. Usage errors and help end in a throw, so that the exit codes are decided in one place. */
export function createProgram(): Command {
  const program = new Command(commandLine(''))
    .description('Give Vitto tasks and watch it work')
    .version(readVersion())
    .option('--json', 'one JSON document on stdout, or JSON lines where events stream')
    .option(
      '--url <url>',
      'where the server is (VITTO_URL; else this machine: VITTO_PORT, the server of VITTO_HOME, or 4800)',
    )
    .option('--token <token>', 'who asks (VITTO_TOKEN; else the token of this machine)')
    .option('--verbose', 'show command output and thinking as they come')
    .showHelpAfterError(`(${commandLine('--help')} shows what there is)`)
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  const add = [
    addStart,
    addSignIn,
    addWorker,
    addSandboxHost,
    addChat,
    addTasks,
    addShow,
    addArtifact,
    addTail,
    addCancel,
    addApprove,
    addSkills,
    addMcp,
    addAudit,
    addVault,
    addRecord,
    addReplay,
    addVm,
    addImage,
    addDoctor,
  ];
  for (const addCommand of add) addCommand(program);
  return program;
}

function readVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
