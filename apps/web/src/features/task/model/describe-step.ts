import type { EventEnvelope } from '@vitto/contracts';
import type { IconName } from '../../../components/icon.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { chooseToolIcon } from '../../chat/items/tool-icon.ts';
import { describeObject, nameTool } from '../../chat/model/describe-tool.ts';
import type { TaskStrings } from '../strings.ts';
import type { Step } from './step.ts';

/** A step in one line. */
export interface StepLine {
  icon: IconName;
  title: string;
  /** What it was about, from outside: shown as plain text. */
  object: string;
  isCode: boolean;
  state: string;
  tone: 'quiet' | 'live' | 'amber' | 'red' | 'green';
}

type Words = { task: TaskStrings; shared: Strings };

/** A payload is read loosely here: a line is drawn of whatever there is. */
const textOf = (event: EventEnvelope | undefined, key: string): string => {
  const value = event?.payload[key];
  return typeof value === 'string' ? value : '';
};

export function describeStep(step: Step, words: Words): StepLine {
  const first = step.events[0];
  const plain = { object: '', isCode: false, state: '', tone: step.isTrouble ? 'red' : 'quiet' } as const;
  switch (step.kind) {
    case 'turn':
      return describeTurn(step, words);
    case 'tool':
      return describeCall(step, words);
    case 'asking':
      return describeAsking(step, words);
    case 'wait':
      return { ...describeWait(step, words), ...(step.endedAt === null ? { tone: 'amber' as const } : {}) };
    case 'agent':
      return describeAgent(step, words);
    case 'message':
      return {
        ...plain,
        icon: 'chat',
        title:
          textOf(first, 'source') === 'deploy_agents' ? words.task.steps.order : words.task.steps.message,
        object: oneLine(textOf(first, 'text')),
      };
    case 'end':
      return describeEnd(step, words);
    case 'state':
      return {
        ...plain,
        icon: 'clock',
        title: stateWord(first?.type ?? '', words),
        object: stateObject(first),
      };
    default:
      return describeNotice(step, words);
  }
}

function describeTurn(step: Step, { task }: Words): StepLine {
  const { turn, tries, says, finishReason } = step.turn ?? {
    turn: 0,
    tries: 1,
    says: '',
    finishReason: null,
  };
  const isLive = step.endedAt === null;
  return {
    icon: 'pulse',
    title: task.steps.turn(turn),
    object: says === '' && finishReason === 'tool-calls' ? task.steps.calls : oneLine(says),
    isCode: false,
    state: isLive ? task.steps.open : tries > 1 ? task.steps.tries(tries) : '',
    tone: isLive ? 'live' : tries > 1 ? 'amber' : 'quiet',
  };
}

function describeCall(step: Step, { shared, task }: Words): StepLine {
  const started = step.events.find((event) => event.type === 'tool.starting');
  const done = step.events.findLast((event) => event.type === 'tool.called');
  const tool = textOf(started ?? done, 'tool');
  const status = textOf(done, 'status');
  const states: Record<string, string> = shared.tool.state;
  const isLive = step.endedAt === null;
  return {
    icon: chooseToolIcon(tool),
    title: shared.tool.verbs[tool] ?? tool,
    object: describeObject(started?.payload['arguments'] ?? null),
    isCode: true,
    state: isLive ? task.steps.open : (states[status] ?? status),
    tone: isLive ? 'live' : step.isTrouble ? 'red' : 'quiet',
  };
}

function describeAsking(step: Step, { task, shared }: Words): StepLine {
  const [asked] = step.events;
  const decided = step.events.find((event) => event.type === 'approval.decided');
  const decision = textOf(decided, 'decision');
  const by = textOf(decided, 'by');
  const say = shared.approval.decided[decision as keyof typeof shared.approval.decided] as
    ((by: string) => string) | undefined;
  const isOpen = step.endedAt === null;
  return {
    icon: 'warning',
    title: task.steps.asked,
    object: `${textOf(asked, 'tool')} ${describeObject(asked?.payload['arguments'] ?? null)}`.trim(),
    isCode: true,
    state: decision === '' ? (isOpen ? task.steps.open : '') : (say?.(shared.who[by] ?? by) ?? decision),
    tone: isOpen ? 'amber' : 'quiet',
  };
}

function describeWait(step: Step, { task }: Words): StepLine {
  const [parked] = step.events;
  const waits: Record<string, string> = task.steps.wait;
  const state = textOf(parked, 'state');
  const asked = parked?.payload['waitingFor'] as { question?: unknown } | undefined;
  return {
    icon: 'clock',
    title: waits[state] ?? state,
    object: typeof asked?.question === 'string' ? oneLine(asked.question) : '',
    isCode: false,
    state: step.endedAt === null ? task.steps.open : '',
    tone: 'quiet',
  };
}

function describeEnd(step: Step, words: Words): StepLine {
  const { task } = words;
  const [event] = step.events;
  const error = event?.payload['error'] as { code?: unknown; message?: unknown } | undefined;
  const said = textOf(event, 'result') || textOf(event, 'reason');
  const isFailed = event?.type === 'task.failed';
  const isUnsuccessful = event?.type === 'task.completed' && event.payload['success'] === false;
  return {
    icon: isFailed || isUnsuccessful ? 'warning' : 'check',
    title: stateWord(event?.type ?? '', words),
    object: oneLine(typeof error?.message === 'string' ? error.message : said),
    isCode: false,
    state: isUnsuccessful ? task.steps.agent.unsuccessful : typeof error?.code === 'string' ? error.code : '',
    tone: isFailed ? 'red' : isUnsuccessful ? 'amber' : event?.type === 'task.completed' ? 'green' : 'quiet',
  };
}

function stateWord(type: string, { task }: Words): string {
  const words = task.steps as unknown as Record<string, unknown>;
  const word = words[type.replace('task.', '')];
  return typeof word === 'string' ? word : type;
}

function stateObject(event: EventEnvelope | undefined): string {
  return oneLine(textOf(event, 'reason') || textOf(event, 'title') || textOf(event, 'worker'));
}

/** A sub-Vitto: whom and what for, then where it stands, or how it ended. */
function describeAgent(step: Step, words: Words): StepLine {
  const { agent } = words.task.steps;
  const spawned = step.events.find((event) => event.type === 'subvitto.spawned');
  const role = textOf(spawned, 'role');
  const roles: Record<string, string> = agent.roles;
  const withheld = spawned?.payload['withheld'];
  const count = Array.isArray(withheld) ? withheld.length : 0;
  const what = oneLine(textOf(spawned, 'title') || textOf(spawned, 'description'));
  return {
    icon: step.isTrouble ? 'warning' : 'agents',
    title: agent.title(role === '' ? null : (roles[role] ?? role)),
    object: [what, count === 0 ? '' : agent.withheld(count)].filter((part) => part !== '').join(' · '),
    isCode: false,
    ...describeStanding(step, words),
  };
}

function describeStanding(step: Step, words: Words): Pick<StepLine, 'state' | 'tone'> {
  const { agent } = words.task.steps;
  const ends: Record<string, string> = agent.ends;
  const states: Record<string, string> = agent.states;
  const last = step.events.at(-1);
  if (last?.type === 'subvitto.completed')
    return last.payload['success'] === false
      ? { state: agent.unsuccessful, tone: 'amber' }
      : { state: agent.done, tone: 'green' };
  if (last?.type === 'subvitto.failed') {
    const state = ends[textOf(last, 'status')] ?? agent.ends.failed;
    return { state, tone: step.isTrouble ? 'red' : 'quiet' };
  }
  const state = textOf(last, 'state');
  const waits = states[state];
  if (waits !== undefined) return { state: waits, tone: state === 'queued' ? 'quiet' : 'amber' };
  const tool = textOf(last, 'currentTool');
  if (tool === '') return { state: words.task.steps.open, tone: 'live' };
  return {
    state: `${nameTool(tool, words.shared.tool.verbs)} ${textOf(last, 'detail')}`.trim(),
    tone: 'live',
  };
}

/** Failures are red; what changes what to expect is amber. */
const FAILURES = new Set(['vm.lost']);

function describeNotice(step: Step, words: Words): StepLine {
  const { task } = words;
  const type = step.events[0]?.type ?? '';
  const names: Record<string, string> = task.notices;
  return {
    icon: step.isTrouble ? 'warning' : 'pulse',
    title: names[type] ?? type,
    object: noticeObject(step, words),
    isCode: false,
    state: '',
    tone: !step.isTrouble ? 'quiet' : FAILURES.has(type) ? 'red' : 'amber',
  };
}

function noticeObject(step: Step, { task }: Words): string {
  const [event] = step.events;
  if (event?.type === 'orchestrator.round') return describeRound(event, task);
  const keys = ['reason', 'note', 'phase', 'message', 'description', 'error', 'to'];
  return oneLine(keys.map((key) => textOf(event, key)).find((text) => text !== '') ?? '');
}

/** How many were sent, in which round of how many, and what is to be made of their results. */
function describeRound(event: EventEnvelope, { steps }: TaskStrings): string {
  const { roundNumber, maxRounds, subTaskIds } = event.payload;
  const count = Array.isArray(subTaskIds) ? subTaskIds.length : 0;
  const round = typeof roundNumber === 'number' ? roundNumber : 1;
  const said = steps.agent.round(round, typeof maxRounds === 'number' ? maxRounds : null, count);
  const synthesis = textOf(event, 'synthesis');
  return synthesis === '' ? said : `${said}: ${oneLine(synthesis)}`;
}

function oneLine(text: string): string {
  return describeObject(text.slice(0, 2000));
}
