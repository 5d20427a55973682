import { readKnownEvent, type EventEnvelope, type EventPayload, type KnownEvent } from '@vitto/contracts';
import { toPlainText } from './plain-text.ts';
import { describeTestRun, readTestRun } from './test-run.ts';

/** Tells a task as it goes on, in lines for a terminal: what the model says, each call, and how it really ended. */
export class ProgressTeller {
  readonly #commands = new Map<string, string>();

  /** The lines of an event; most have none. */
  tell(envelope: EventEnvelope): string[] {
    const event = readKnownEvent(envelope);
    return event === null ? [] : this.#lines(event).map(toPlainText);
  }

  #lines(event: KnownEvent): string[] {
    switch (event.type) {
      case 'vm.degraded':
        return [`  (${event.payload.reason})`];
      case 'vm.waiting':
        return [`  (waiting for a VM, place ${event.payload.place}: ${event.payload.reason})`];
      case 'vm.acquired':
        return [`  (${describeVm(event.payload)})`];
      case 'agent.turn_completed':
        return ['', ...textsOf(event.payload.message.content).map((text) => `» ${text}`)];
      case 'tool.starting': {
        const { callId, tool, arguments: args } = event.payload;
        const { command, pattern, path } = (args ?? {}) as Record<string, unknown>;
        this.#commands.set(callId, typeof command === 'string' ? command : '');
        const what = [command, pattern, path].filter((one) => typeof one === 'string').join('  ');
        return tool === 'task_complete' ? [] : [`  ${tool}  ${what}`];
      }
      case 'tool.called':
        return this.#result(event.payload);
      case 'task.failed':
        return ['', `✗ ${event.payload.error.code}: ${event.payload.error.message}`];
      case 'task.cancelled':
        return ['', '✗ The task was cancelled.'];
      default:
        return [];
    }
  }

  #result(called: Extract<KnownEvent, { type: 'tool.called' }>['payload']): string[] {
    const { tool, status, text } = called;
    const run = readTestRun(called, this.#commands.get(called.callId) ?? '');
    if (tool === 'task_complete') return status === 'ok' ? [] : [`    ✖ ${cut(text)}`];
    const { exitCode } = (called.data ?? {}) as { exitCode?: unknown };
    const end =
      run !== null
        ? describeTestRun(run)
        : typeof exitCode !== 'number'
          ? `${tool}: ${cut(text)}`
          : `exit ${exitCode}${exitCode === 0 ? '' : ` · ${cut(textOfCommand(text))}`}`;
    const time = `${(called.durationMs / 1000).toFixed(1)} s`;
    return [`    ${status === 'ok' ? '✔' : '✖'} ${end} · ${time}${describePlace(called.ranOn)}`];
  }
}

/** Where a call really ran. */
function describePlace(ranOn: EventPayload<'tool.called'>['ranOn']): string {
  return ranOn === undefined ? '' : PLACES[ranOn.kind];
}
const PLACES = {
  vm: ' in the VM',
  'process-sandbox': ' in the process sandbox',
  browser: ' in the browser',
  'in-process': '',
};

/** How a task's VM came and how long that took, as the journal has it. */
export function describeVm({ from, acquireTimeMs, template }: EventPayload<'vm.acquired'>): string {
  const how = from === undefined ? 'a VM' : ORIGINS[from];
  const time = acquireTimeMs === undefined ? '' : ` in ${(acquireTimeMs / 1000).toFixed(1)} s`;
  return `${how}${template === undefined ? '' : ` (${template})`}${time}`;
}
const ORIGINS = {
  session: 'the VM that was running',
  'user-snapshot': "the VM restored from the user's snapshot",
  'user-disk': "a VM started from the user's disk",
  'base-snapshot': "a VM made from the image's snapshot",
  boot: 'a VM booted from the image',
} as const;

function textsOf(content: { type: string }[]): string[] {
  return content.flatMap((part) => ('text' in part && part.type === 'text' ? [String(part.text)] : []));
}

/** What a command printed, without the words around it. */
function textOfCommand(text: string): string {
  const lines = text.split('\n').slice(1);
  return lines.find((line) => !line.startsWith('--- ')) ?? '';
}

/** The first line, if need be its beginning. */
function cut(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line;
}
