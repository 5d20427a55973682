import type { SandboxInfo, SandboxOverview } from '@vitto/contracts';
import type { Command } from 'commander';
import { ask } from '../ask.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { ORIGINS } from '../render/notices.ts';
import { resolveMachine } from '../resolve-machine.ts';
import { formatAge, formatBytes, formatDuration, formatTable, shortId } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { addVmExec } from './vm-exec.ts';
import { addVmSsh } from './vm-ssh.ts';

export function addVm(program: Command): void {
  const vm = program.command('vm').description('My machines: the VMs that tasks run their commands in');
  vm.command('ls', { isDefault: true })
    .description('List the machines')
    .action((_options: object, command: Command) => listMachines(createContext(command)));
  addVmExec(vm);
  addVmSsh(vm);
  vm.command('snapshot')
    .description('Take a snapshot now and suspend the machine')
    .argument('[id]', 'its id or a part of it; not needed when there is one only')
    .action((id: string | undefined, _options: object, command: Command) =>
      snapshot(createContext(command), id),
    );
  vm.command('destroy')
    .description('End a machine without a snapshot; its disk is kept')
    .argument('[id]', 'its id or a part of it; not needed when there is one only')
    .option('--forget', 'delete its disk and its snapshot too: every file in it is lost')
    .option('-y, --yes', 'do not ask')
    .action((id: string | undefined, options: DestroyOptions, command: Command) =>
      destroy(createContext(command), id, options),
    );
}

interface DestroyOptions {
  forget?: boolean;
  yes?: boolean;
}

async function listMachines({ api, output }: Context): Promise<void> {
  const overview = await api.readSandboxes();
  if (output.json) return output.document(overview);
  const { sandboxes } = overview;
  const isOfSeveral = new Set(sandboxes.map(({ userId }) => userId)).size > 1;
  const now = Date.now();
  const head = ['ID', 'STATE', 'TEMPLATE', 'USED', 'MEMORY', 'DISK', 'SNAPSHOT', 'HOW IT CAME', 'RUNS NOW'];
  const rows = sandboxes.map((machine) => {
    const id = output.isTerminal ? shortId(machine.id) : machine.id;
    return [id, ...toCells(machine, now), ...(isOfSeveral ? [shortId(machine.userId)] : [])];
  });
  if (rows.length === 0) output.notice('No machines. One is made when a task first needs it.');
  else for (const row of formatTable([isOfSeveral ? [...head, 'USER'] : head, ...rows])) output.line(row);
  tellHosts({ output }, overview);
}

function toCells(machine: SandboxInfo, now: number): string[] {
  const { from, acquireTimeMs, memoryBytes, snapshot: kept } = machine;
  const time = acquireTimeMs === null ? '' : ` in ${formatDuration(acquireTimeMs)}`;
  const snapshotAge = kept === null ? '–' : formatAge(kept.createdAt, now);
  const [longest] = machine.commands;
  return [
    machine.state,
    machine.template,
    formatAge(machine.lastUsedAt, now),
    memoryBytes === null ? '–' : formatBytes(memoryBytes),
    // Measured when it is suspended.
    machine.diskBytes === 0 ? '–' : formatBytes(machine.diskBytes),
    kept?.isUsable === false ? `${snapshotAge}, not usable` : snapshotAge,
    from === null ? '–' : `${ORIGINS[from]}${time}`,
    longest === undefined
      ? '–'
      : `${toPlainLine(longest.command).slice(0, 60)} (${formatDuration(now - Date.parse(longest.since))})`,
  ].map(toPlainLine);
}

/** Why no VM can be had, and images that are on their way: what a person asks next when a machine is missing. */
function tellHosts({ output }: Pick<Context, 'output'>, { hosts }: SandboxOverview): void {
  for (const { name, reason, hint, images } of hosts) {
    if (reason !== null) output.notice(toPlainLine(`${name}: ${reason} ${hint ?? ''}`));
    for (const { name: image, progress, problem } of images) {
      if (progress !== null) {
        const percent = Math.floor(progress.fraction * 100);
        output.notice(toPlainLine(`${name}: building the image ${image}, ${progress.step}, ${percent} %`));
      } else if (problem !== null) output.notice(toPlainLine(`${name}: the image ${image}: ${problem}`));
    }
  }
}

async function snapshot({ api, output }: Context, part: string | undefined): Promise<void> {
  const { id } = await resolveMachine(api, part);
  output.status('taking the snapshot …');
  await api.actOnSandbox(id, 'snapshot').finally(() => output.clearStatus());
  if (output.json) return output.document({ id, state: 'suspended' });
  output.line(`${shortId(id)} is suspended; it comes back from its snapshot when it is next needed.`);
}

async function destroy(context: Context, part: string | undefined, options: DestroyOptions): Promise<void> {
  const { api, output } = context;
  const machine = await resolveMachine(api, part);
  const isForgotten = options.forget === true;
  if (isForgotten && options.yes !== true) await confirmForget(context, machine);
  await api.actOnSandbox(machine.id, isForgotten ? 'forget' : 'destroy');
  if (output.json) return output.document({ id: machine.id, destroyed: true, forgotten: isForgotten });
  output.line(
    isForgotten
      ? `${shortId(machine.id)} is gone with everything that was in it.`
      : `${shortId(machine.id)} has ended. Its disk is kept: it boots from it when it is next needed.`,
  );
}

/** @throws CliError when it is not wanted, or nobody can be asked. */
async function confirmForget({ output, isInteractive }: Context, machine: SandboxInfo): Promise<void> {
  const what = `This deletes the disk and the snapshot of ${shortId(machine.id)} (${machine.template}, ${formatBytes(machine.diskBytes)}). Every file in it is lost and cannot be brought back.`;
  if (!isInteractive) {
    throw new CliError(EXIT.waiting, 'cli.not-confirmed', what, 'Add --yes if that is what you want.');
  }
  output.notice(what);
  const interrupted = new AbortController();
  const answer = await ask({
    prompt: 'Delete it? [y/N] ',
    onInterrupt: () => interrupted.abort(),
    signal: interrupted.signal,
    dropsTypeAhead: true,
  });
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return;
  throw new CliError(
    EXIT.cancelled,
    'cli.cancelled',
    'Nothing was deleted.',
    `Without --forget "${commandLine('vm destroy')}" ends the machine and keeps its disk.`,
  );
}
