import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { createContext, type Context } from '../context.ts';
import { TerminalText } from '../text/terminal-text.ts';

export function addArtifact(program: Command): void {
  program
    .command('artifact')
    .description('Write a file that a task has made to stdout, or to a file')
    .argument('<id>', "the artifact's id, as show lists it")
    .option('-o, --output <file>', 'where to put it; a file that is there is not overwritten')
    .action((id: string, options: { output?: string }, command: Command) =>
      saveArtifact(createContext(command), id, options),
    );
}

/** Writes an artifact's bytes. On a terminal only text is shown, and made safe. With `--json`: what is known of it. */
export async function saveArtifact(
  context: Context,
  id: string,
  options: { output?: string },
): Promise<void> {
  const { api, output } = context;
  if (options.output !== undefined) {
    await writeFile(Readable.fromWeb((await api.readArtifact(id)) as never), options.output);
    if (output.json) return output.document({ ...(await api.findArtifact(id)), file: options.output });
    return output.notice(`Written to ${options.output}.`);
  }
  if (output.json) return output.document(await api.findArtifact(id));
  if (!output.isTerminal) {
    await pipeline(Readable.fromWeb((await api.readArtifact(id)) as never), process.stdout, { end: false });
    return;
  }
  const { mediaType } = await api.findArtifact(id);
  if (!/^(text\/|application\/(json|xml|yaml|x-ndjson))/.test(mediaType)) {
    throw new CliError(
      EXIT.usage,
      'cli.not-text',
      `This file is ${mediaType}, not text.`,
      'Write it to a file with -o FILE.',
    );
  }
  await showText(output, await api.readArtifact(id));
}

async function showText(output: Context['output'], content: ReadableStream<Uint8Array>): Promise<void> {
  const cleaner = new TerminalText();
  const decoder = new TextDecoder();
  for await (const chunk of content) {
    output.text(cleaner.push(decoder.decode(chunk, { stream: true })).replaceAll('\r', '\n'));
  }
  output.text(cleaner.push(decoder.decode()) + cleaner.end());
  output.endLine();
}

async function writeFile(content: Readable, file: string): Promise<void> {
  try {
    await pipeline(content, createWriteStream(file, { flags: 'wx' }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EEXIST')
      throw badFile(`${file} is there already.`, 'Name another file, or remove it first.');
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' || code === 'ENOSPC') {
      throw badFile(`${file} cannot be written (${code}).`, 'Name another file with -o.');
    }
    throw error;
  }
}

function badFile(message: string, hint: string): CliError {
  return new CliError(EXIT.usage, 'cli.bad-file', message, hint);
}
