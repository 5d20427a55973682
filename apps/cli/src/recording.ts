import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { CliError, EXIT } from './cli-error.ts';
import { commandLine } from './command-line.ts';

/** What a recording says of the task that it was made of. */
export interface RecordedTask {
  /** What was asked; `null` when the recording does not say so. */
  prompt: string | null;
  /** Folders that the task might read. Without them its first request differs: it names them. */
  folders: string[];
}

/**
 * Begins a recording with a line that names the task's folders; the server appends the calls. A file that is there is
 * refused with `cli.bad-file`.
 * @returns removes the file again, if no call has been recorded.
 */
export async function beginRecording(file: string, folders: string[]): Promise<() => Promise<void>> {
  const path = resolve(file);
  const allowedPaths = folders.map((folder) => resolve(folder));
  const about = `${JSON.stringify({ kind: 'about', version: 1, allowedPaths })}\n`;
  try {
    await writeFile(path, about, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw badFile(`${file} cannot be written (${code}).`, 'Name another file with -o.');
  }
  return async () => {
    if ((await readFile(path, 'utf8').catch(() => null)) === about) await rm(path, { force: true });
  };
}

/** Reads what a recording says of its task: in its first line, if it began with one, and in the first call. */
export async function readRecording(file: string): Promise<RecordedTask> {
  const [first, second] = await readLines(file, 2);
  const folders = foldersOf(first);
  return { prompt: promptOf(folders === null ? first : second), folders: folders ?? [] };
}

/** The error for a recording that does not say what was asked. */
export function saysNoPrompt(file: string): CliError {
  return badFile(
    `${file} is no recording that says what was asked.`,
    `Give the text: ${commandLine('replay FILE "…"')}. Make a recording with "${commandLine('record')}".`,
  );
}

/** `null` when the line is not about the recording, but a call. */
function foldersOf(line: unknown): string[] | null {
  const { kind, allowedPaths } = (line ?? {}) as { kind?: unknown; allowedPaths?: unknown };
  if (kind !== 'about') return null;
  if (!Array.isArray(allowedPaths)) return [];
  return allowedPaths.filter((path): path is string => typeof path === 'string' && isAbsolute(path));
}

/** What the user asked in a recorded call (`request.prompt` in it). */
function promptOf(line: unknown): string | null {
  const { request } = (line ?? {}) as { request?: { prompt?: unknown } };
  if (!Array.isArray(request?.prompt)) return null;
  const messages = request.prompt as ({ role?: unknown; content?: unknown } | null)[];
  const content = messages.find((message) => message?.role === 'user')?.content;
  const text = Array.isArray(content) ? content.find(isText)?.text : content;
  return typeof text === 'string' && text !== '' ? text : null;
}

/** The first lines as JSON; `null` for a line that is none. */
async function readLines(file: string, count: number): Promise<unknown[]> {
  const input = createReadStream(resolve(file), 'utf8');
  const lines: unknown[] = [];
  try {
    for await (const line of createInterface({ input })) {
      lines.push(parse(line));
      if (lines.length === count) break;
    }
    return lines;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw badFile(`${file} cannot be read (${code}).`, 'Check the path of the recording.');
  } finally {
    input.destroy();
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}

function isText(part: unknown): part is { text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
}

function badFile(message: string, hint: string): CliError {
  return new CliError(EXIT.usage, 'cli.bad-file', message, hint);
}
