import { revealHidden } from './reveal-hidden.ts';

/** What a call is about, for its one line: the first of these arguments that is there. */
const OBJECTS = [
  'command',
  'path',
  'url',
  'query',
  'pattern',
  'question',
  'name',
  'title',
  'message',
  'text',
  'to',
  'processId',
  'artifactId',
  'id',
];
const OBJECT_MAX = 240;
const LOOKED_AT = 4000;

/** A tool in the person's words; one of an MCP server (`mcp__server__tool`) by its own name and its server's. */
export function nameTool(tool: string, verbs: Readonly<Record<string, string>>): string {
  const known = verbs[tool];
  if (known !== undefined) return known;
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return toLine(server === undefined || name === undefined ? tool : `${server}: ${name}`);
}

/** The object of a call as one line of text; empty when its arguments say nothing short. */
export function describeObject(args: unknown): string {
  if (typeof args === 'string') return toLine(args);
  if (typeof args !== 'object' || args === null) return '';
  const record = args as Record<string, unknown>;
  const name = OBJECTS.find((key) => typeof record[key] === 'string' && record[key] !== '');
  if (name !== undefined) return toLine(record[name] as string);
  const first = Object.values(record).find((value) => typeof value === 'string');
  return first === undefined ? '' : toLine(first);
}

/** In one line, what would turn or hide the rest of it is written out. */
function toLine(text: string): string {
  // A call's argument may hold a megabyte: what cannot be in the line is not looked at.
  const line = revealHidden(text.slice(0, LOOKED_AT).replace(/\s+/gu, ' ').trim())
    .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
    .join('');
  if (line.length <= OBJECT_MAX) return line.toWellFormed();
  // Not within a surrogate pair or an emoji of several code points.
  const cut = [...new Intl.Segmenter().segment(line.slice(0, OBJECT_MAX + 32))]
    .filter((part) => part.index + part.segment.length <= OBJECT_MAX)
    .map((part) => part.segment)
    .join('');
  return `${cut}…`.toWellFormed();
}

/** An argument's value for reading: text as it is, everything else as JSON. */
export function showValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** A call's arguments by name; what is no object has no name. */
export function listArguments(args: unknown): { name: string; value: string }[] {
  if (args === null || args === undefined) return [];
  if (typeof args !== 'object' || Array.isArray(args)) return [{ name: '', value: showValue(args) }];
  return Object.entries(args).map(([name, value]) => ({ name, value: showValue(value) }));
}
