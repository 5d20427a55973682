import type { EventPayload } from '@vitto/contracts';
import { formatDuration } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

const OBJECT_MAX = 100;

/** What a call does, in one word, and the argument that says to what. Tools that are not named here show their name. */
const VERBS: Record<string, [verb: string, ...fields: string[]]> = {
  run_command: ['run', 'command'],
  start_process: ['start', 'command'],
  read_process: ['watch', 'processId', 'id'],
  stop_process: ['stop', 'processId', 'id'],
  write_file: ['write', 'path'],
  read_file: ['read', 'path'],
  edit_file: ['edit', 'path'],
  list_files: ['list', 'path'],
  search_code: ['search', 'query', 'pattern'],
  read_local_file: ['read', 'path'],
  list_local_files: ['list', 'path'],
  web_search: ['search the web', 'query'],
  fetch_webpage: ['fetch', 'url'],
  query_docs: ['look up', 'query'],
  recall_memory: ['recall', 'query'],
  remember: ['remember', 'text', 'content'],
  ask_user: ['ask', 'question'],
  send_message: ['send', 'to', 'channel', 'text'],
  deploy_agents: ['deploy agents'],
  task_complete: ['finish'],
};
const USUAL_FIELDS = ['command', 'path', 'url', 'query', 'pattern', 'question', 'name', 'id'];

/** A call as `run npm test`. */
export function describeCall(tool: string, args: unknown): string {
  const [verb, ...fields] = VERBS[tool] ?? [tool];
  const object = findObject(args, [...fields, ...USUAL_FIELDS]);
  return toPlainLine(object === '' ? verb : `${verb} ${object}`);
}

function findObject(args: unknown, fields: string[]): string {
  if (typeof args !== 'object' || args === null) return '';
  const values = args as Record<string, unknown>;
  const found = fields
    .map((field) => values[field])
    .find((value) => typeof value === 'string' || typeof value === 'number');
  const line = toPlainLine(String(found ?? ''));
  return line.length <= OBJECT_MAX ? line : `${line.slice(0, OBJECT_MAX - 1).toWellFormed()}…`;
}

const STATES: Record<EventPayload<'tool.called'>['status'], [mark: string, words: string]> = {
  ok: ['✓', ''],
  error: ['✗', 'failed'],
  invalid: ['✗', 'bad call'],
  refused: ['✗', 'refused'],
  cancelled: ['–', 'cancelled'],
  timeout: ['✗', 'timed out'],
  unknown: ['?', 'outcome unknown'],
};

/** The one line of a finished call: verb, object, state, time. */
export function toolCard(called: EventPayload<'tool.called'>, description: string): string {
  const [mark, words] = STATES[called.status];
  const where =
    called.ranOn === undefined || called.ranOn.kind === 'in-process'
      ? ''
      : ` in ${PLACES[called.ranOn.kind]}`;
  // How long it waited for agents is not in its own time.
  const time = AWAITS_AGENTS.has(called.tool) ? '' : formatDuration(called.durationMs);
  const parts = [words, `${time}${where}`.trim()].filter((part) => part !== '');
  return [`${mark} ${description}`, ...parts].join(' · ');
}

const AWAITS_AGENTS: ReadonlySet<string> = new Set(['deploy_agents', 'wait_for_agents']);

const PLACES = { vm: 'a VM', 'process-sandbox': 'the process sandbox', browser: 'the browser' };
