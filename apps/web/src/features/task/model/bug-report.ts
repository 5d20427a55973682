import { SECRET_SHAPES, type EventEnvelope, type SystemStatus, type Task } from '@vitto/contracts';
import { en } from '../../../i18n/strings.en.ts';
import { formatCost, formatDuration } from '../../chat/model/format.ts';
import { revealHidden } from '../../chat/model/reveal-hidden.ts';
import { taskStrings } from '../strings.ts';
import { describeStep } from './describe-step.ts';
import { foldSteps } from './fold-steps.ts';
import { NO_STEPS } from './step.ts';

export interface ReportFacts {
  task: Task;
  /** The newest of the task's journal, in its order. */
  events: readonly EventEnvelope[];
  /** `null` when the system does not answer. */
  system: SystemStatus | null;
  browser: string;
  at: string;
}

/** Raw events: as many of the newest as fit, each cut. In characters. */
const RAW_MAX = 60_000;
const EVENT_MAX = 2_000;

/**
 * A task as a text that can be filed: versions, facts, steps and the newest raw events, in English whatever the
 * language of the app. The server has masked secrets before it wrote anything down; known shapes are masked once more
 * here, and the names of homes are left out.
 */
export function writeBugReport(facts: ReportFacts): string {
  const { task, events, system } = facts;
  const models = system?.models.map((one) => `${one.role}: ${one.models.join(', ') || 'none'}`).join('; ');
  const lines = [
    `# Task ${task.id}: ${task.state}`,
    '',
    task.title.slice(0, 300).replaceAll(/\s+/gu, ' '),
    '',
    `- Vitto ${system?.version ?? '(not answering)'}, ${system?.database.kind ?? '?'} PostgreSQL ${system?.database.version ?? '?'}`,
    `- Models: ${models ?? '?'}`,
    `- Browser: ${facts.browser}`,
    `- Reported ${facts.at}`,
    '',
    '## Task',
    '',
    `- Kind ${task.kind}, tier ${task.tier ?? 'not chosen'}, depth ${task.depth}${task.tainted ? ', has read text from outside' : ''}`,
    `- Created ${task.createdAt}, started ${task.startedAt ?? 'never'}, ended ${task.endedAt ?? 'not yet'}`,
    `- ${task.spending.iterations} steps, ${task.spending.tokens} tokens, ${formatCost(task.spending.costUsd, 'cost unknown', 'en')}, ${formatDuration(task.spending.durationMs)} at work`,
    ...(task.error === null
      ? []
      : [`- Error \`${task.error.code}\`: ${task.error.message.slice(0, EVENT_MAX)}`]),
    '',
    '## Steps',
    '',
    ...listSteps(events),
    '',
    '## Events',
    '',
    fence(listEvents(events)),
  ];
  return showHidden(shortenHomes(maskShapes(lines.join('\n'))));
}

function listSteps(events: readonly EventEnvelope[]): string[] {
  const words = { task: taskStrings.en, shared: en };
  return foldSteps(NO_STEPS, events).steps.map((step) => {
    const { title, object, state } = describeStep(step, words);
    const ms = step.endedAt === null ? null : Date.parse(step.endedAt) - Date.parse(step.startedAt);
    const took = ms === null || ms === 0 ? '' : ` (${formatDuration(ms)})`;
    return `- ${step.startedAt} ${title} ${object} ${state}${took}`.replaceAll(/\s+/gu, ' ');
  });
}

function listEvents(events: readonly EventEnvelope[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const event of events.toReversed()) {
    const whole = JSON.stringify(event);
    const line =
      whole.length > EVENT_MAX ? `${whole.slice(0, EVENT_MAX)}… (${whole.length} characters)` : whole;
    length += line.length;
    if (length > RAW_MAX) break;
    lines.unshift(line);
  }
  const missing = events.length - lines.length;
  return [...(missing > 0 ? [`(${missing} earlier events left out)`] : []), ...lines].join('\n');
}

/** What would not show, or would turn the reading direction, is written out. */
function showHidden(text: string): string {
  return revealHidden(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
    .join('');
}

/** A fence that nothing within can close. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map((run) => run[0].length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}json\n${text}\n${ticks}`;
}

export function maskShapes(text: string): string {
  return SECRET_SHAPES.reduce(
    (masked, { name, pattern }) => masked.replace(pattern, `[${name} masked]`),
    text,
  );
}

/** Homes by name say who somebody is: `~` is enough. Backslashes may stand doubled, as in JSON. */
export function shortenHomes(text: string): string {
  return text
    .replaceAll(/(?<![\w.-])(?:\/home\/|\/Users\/)[^/\s"'`:;,)\\]+/gu, '~')
    .replaceAll(/(?<![\w.-])\/root(?=[/\s"'`:;,)\\]|$)/gu, '~')
    .replaceAll(/\b[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}[^\\/\s"'`:;,)]+/gu, '~');
}
