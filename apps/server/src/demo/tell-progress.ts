import { readKnownEvent, type EventEnvelope, type EventPayload, type KnownEvent } from '@vitto/contracts';
import { firstLine, toPlainText } from './plain-text.ts';
import { nameSubVitto, PLACES } from './sub-vitto-facts.ts';
import { describeTestRun, readTestRun } from './test-run.ts';

/** Of a result, in UTF-16 units. */
const LINE_MAX = 80;

/**
 * Tells a task and its sub-Vittos as they go on, in lines for a terminal: what the model says, each call, and how it
 * really ended. Whose line it is stands before those of sub-Vittos.
 */
export class ProgressTeller {
  readonly #rootId: string;
  readonly #commands = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  /** The lines of an event; most have none. */
  tell(envelope: EventEnvelope): string[] {
    const event = readKnownEvent(envelope);
    const lines = event === null ? [] : this.#lines(event).map(toPlainText);
    if (envelope.taskId === this.#rootId) return lines;
    const name = this.#names.get(envelope.taskId) ?? 'sub-Vitto';
    return lines.filter((line) => line !== '').map((line) => `  [${name}] ${line.trimStart()}`);
  }

  #lines(event: KnownEvent): string[] {
    switch (event.type) {
      case 'orchestrator.round': {
        const { roundNumber, subTaskIds } = event.payload;
        return [`  (round ${roundNumber}: ${subTaskIds.length} deployed)`];
      }
      case 'subvitto.spawned': {
        const { id, round = 1, index = 0, role } = event.payload;
        this.#names.set(id, nameSubVitto({ round, number: index + 1, role }));
        return [];
      }
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
        this.#commands.set(`${event.taskId} ${callId}`, typeof command === 'string' ? command : '');
        const what = [command, pattern, path].filter((one) => typeof one === 'string').join('  ');
        return tool === 'task_complete' ? [] : [`  ${tool}  ${firstLine(what)}`];
      }
      case 'tool.called':
        return this.#result(event.taskId, event.payload);
      case 'task.failed':
        return ['', `✗ ${event.payload.error.code}: ${event.payload.error.message}`];
      case 'task.cancelled':
        return ['', '✗ The task was cancelled.'];
      default:
        return [];
    }
  }

  #result(taskId: string, called: EventPayload<'tool.called'>): string[] {
    const { tool, status, text } = called;
    const run = readTestRun(called, this.#commands.get(`${taskId} ${called.callId}`) ?? '');
    if (tool === 'task_complete') return status === 'ok' ? [] : [`    ✖ ${firstLine(text, LINE_MAX)}`];
    const { exitCode } = (called.data ?? {}) as { exitCode?: unknown };
    const end =
      run !== null
        ? describeTestRun(run)
        : typeof exitCode !== 'number'
          ? `${tool}: ${firstLine(text, LINE_MAX)}`
          : `exit ${exitCode}${exitCode === 0 ? '' : ` · ${firstLine(textOfCommand(text), LINE_MAX)}`}`;
    const time = `${(called.durationMs / 1000).toFixed(1)} s`;
    return [`    ${status === 'ok' ? '✔' : '✖'} ${end} · ${time}${describePlace(called.ranOn)}`];
  }
}

/** Where a call really ran. */
function describePlace(ranOn: EventPayload<'tool.called'>['ranOn']): string {
  return ranOn === undefined || ranOn.kind === 'in-process' ? '' : ` ${PLACES[ranOn.kind]}`;
}

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
