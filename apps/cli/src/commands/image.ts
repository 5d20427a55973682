import { imageInfo, type ImageInfo } from '@vitto/contracts';
import type { Command } from 'commander';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { runImageProgram } from '../image-program.ts';
import { showImageProgress } from '../render/image-progress.ts';
import { formatAge, formatBytes, formatTable } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

/** Images of VMs are made on the machine where the VMs run, so these commands need no server. */
export function addImage(program: Command): void {
  const image = program.command('image').description('Images of VMs on this machine');
  image.command('build <name>').description('Build an image, unless it is there').action(build);
  image.command('ls').description('List the images').action(list);
  image.command('rm <name>').description('Remove an image that no disk of a user needs').action(remove);
  image
    .command('export <name> <file>')
    .description('Write an image into a file for other hosts')
    .action(write);
  image.command('import <file>').description('Take an image from such a file').action(read);
}

async function build(name: string, _options: unknown, command: Command): Promise<void> {
  const context = createContext(command);
  const progress = showImageProgress(context.output);
  const image = imageInfo.parse(await run(context, ['build', name], progress.show));
  progress.end();
  showOne(context, image);
}

async function list(_options: unknown, command: Command): Promise<void> {
  const context = createContext(command);
  const items = imageInfo.array().parse(await run(context, ['ls']));
  const { output } = context;
  if (output.json) return output.document({ items });
  const now = Date.now();
  const rows = items.map((item) => toRow(item, now));
  formatTable([['NAME', 'STATE', 'SIZE', 'BUILT', 'BASE SNAPSHOT', 'HASH'], ...rows]).forEach((row) =>
    output.line(row),
  );
  for (const { name, problem } of items) {
    if (problem !== null) output.notice(toPlainLine(`${name}: ${problem}`));
  }
}

function toRow(item: ImageInfo, now: number): string[] {
  const isThere = item.builtAt !== null;
  return [
    item.name,
    item.state,
    isThere ? formatBytes(item.bytes) : '–',
    item.builtAt === null ? '–' : formatAge(item.builtAt, now),
    isThere ? (item.hasBaseSnapshot ? 'yes' : 'no') : '–',
    item.hash.slice(0, 12),
  ].map(toPlainLine);
}

async function remove(name: string, _options: unknown, command: Command): Promise<void> {
  const context = createContext(command);
  const result = (await run(context, ['rm', name])) as { removed: number; kept: number };
  if (context.output.json) return context.output.document(result);
  const kept = result.kept === 0 ? '' : ` ${result.kept} kept: disks of users lie over it.`;
  context.output.line(`${result.removed} removed.${kept}`);
}

async function write(name: string, file: string, _options: unknown, command: Command): Promise<void> {
  const context = createContext(command);
  context.output.status(`packing ${name} …`);
  const result = (await run(context, ['export', name, file])) as { hash: string; bytes: number };
  context.output.clearStatus();
  if (context.output.json) return context.output.document(result);
  context.output.line(`${toPlainLine(file)}: ${formatBytes(result.bytes)}`);
  context.output.note(`On the other host: ${commandLine('image import FILE')}`);
}

async function read(file: string, _options: unknown, command: Command): Promise<void> {
  const context = createContext(command);
  context.output.status('checking and unpacking …');
  const image = imageInfo.parse(await run(context, ['import', file]));
  context.output.clearStatus();
  showOne(context, image);
}

function run(
  { environment, output }: Context,
  args: string[],
  onProgress: Parameters<typeof runImageProgram>[2]['onProgress'] = () => undefined,
): Promise<unknown> {
  const onLine = (line: string) => {
    if (output.verbose) output.note(toPlainLine(line));
  };
  return runImageProgram(args, environment, { onProgress, onLine });
}

function showOne({ output }: Context, image: ImageInfo): void {
  if (output.json) return output.document(image);
  const snapshot = image.hasBaseSnapshot ? 'with a base snapshot' : 'without a base snapshot';
  output.line(
    `${image.name} is ready: ${formatBytes(image.bytes)}, ${snapshot} (${image.hash.slice(0, 12)})`,
  );
  if (image.problem !== null) output.notice(toPlainLine(image.problem));
}
