import type { ArtifactRef, EventEnvelope, Task } from '@vitto/contracts';
import type { Command } from 'commander';
import { createContext, type Context } from '../context.ts';
import { collectEvents } from '../event-stream.ts';
import { eventLine } from '../render/event-line.ts';
import { collectArtifacts, describeSteps } from '../render/steps.ts';
import { describeArtifact, describeSpending } from '../render/summary.ts';
import { describeSubVittos } from '../render/sub-vittos.ts';
import { explainWaiting } from '../render/waiting.ts';
import { resolveTask } from '../resolve-task.ts';
import { formatAge, formatCost, formatDuration } from '../text/format.ts';
import { toPlainLine, toPlainText } from '../text/terminal-text.ts';
import { saveArtifact } from './artifact.ts';

interface ShowOptions {
  events?: boolean;
  raw?: boolean;
  artifact?: string;
  output?: string;
}

export function addShow(program: Command): void {
  program
    .command('show')
    .description('Show a task: state, budget, steps, result, files')
    .argument('<task>', 'its id, or a part of it')
    .option('--events', 'every event of its journal, a line each')
    .option('--raw', 'every event as it is stored, a JSON line each')
    .option('--artifact <id>', 'the content of one of its files')
    .option('-o, --output <file>', 'where to put that file')
    .action(async (argument: string, options: ShowOptions, command: Command) => {
      const context = createContext(command);
      if (options.artifact !== undefined) return saveArtifact(context, options.artifact, options);
      await show(context, await resolveTask(context.api, argument), options);
    });
}

async function show({ api, output }: Context, id: string, options: ShowOptions): Promise<void> {
  const task = await api.findTask(id);
  const events = await collectEvents(api, id);
  if (options.raw === true) return events.forEach((event) => output.document(event));
  const artifacts = collectArtifacts(events);
  if (output.json)
    return output.document({ task, artifacts, ...(options.events === true ? { events } : {}) });
  if (options.events === true) return events.forEach((event) => output.line(eventLine(event)));
  const below = await listBelow(api, task);
  for (const line of describeTask(task, events, artifacts, below)) output.line(line);
}

/** What is below a task that has deployed anybody. */
async function listBelow(api: Context['api'], task: Task): Promise<string[]> {
  if (task.depth >= 2) return [];
  const all: Task[] = [];
  let cursor: string | null = null;
  do {
    const query = { rootId: task.rootId, limit: 200, ...(cursor === null ? {} : { cursor }) };
    const page = await api.listTasks(query);
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return describeSubVittos(all, task.id);
}

function describeTask(
  task: Task,
  events: EventEnvelope[],
  artifacts: ArtifactRef[],
  below: string[],
): string[] {
  const steps = describeSteps(events);
  return [
    toPlainLine(task.title),
    `Task      ${task.id}`,
    ...(task.conversationId === null ? [] : [`Talk      ${task.conversationId}`]),
    `State     ${task.state}, begun ${formatAge(task.createdAt, Date.now())}`,
    `Spent     ${describeSpending(task.spending)}`,
    `Budget    ${describeBudget(task)}`,
    ...(task.tainted ? ['Tainted   it has read text from outside that is not trusted'] : []),
    ...describeWait(task),
    ...(task.parentId === null ? [] : [`Deployed  as ${task.role ?? 'agent'} by ${task.parentId}`]),
    ...(steps.length === 0 ? [] : ['', 'Steps', ...steps]),
    ...(below.length === 0 ? [] : ['', 'Sub-Vittos', ...below]),
    ...(task.error === null ? [] : ['', toPlainText(task.error.message), ...hintOf(task.error)]),
    ...(task.result === null ? [] : ['', 'Result', toPlainText(task.result)]),
    ...(artifacts.length === 0 ? [] : ['', ...artifacts.map(describeArtifact)]),
  ];
}

function hintOf({ hint }: { hint?: string | undefined }): string[] {
  return hint === undefined ? [] : [toPlainText(hint)];
}

function describeBudget({ budget }: Task): string {
  const none = (value: number | null, show: (value: number) => string, what: string) =>
    value === null ? `no limit of ${what}` : show(value);
  return [
    `${budget.maxIterations} steps`,
    none(budget.maxTokens, (tokens) => `${tokens.toLocaleString('en-US')} tokens`, 'tokens'),
    none(budget.maxCostUsd, formatCost, 'cost'),
    none(budget.maxDurationMs, formatDuration, 'time'),
  ].join(' · ');
}

function describeWait(task: Task): string[] {
  if (task.waitingFor === null || task.waitingFor.kind === 'children') return [];
  const waiting = explainWaiting(task.waitingFor, {
    taskId: task.id,
    conversationId: task.conversationId ?? 'ID',
  });
  return [`Waits     ${waiting.message}`, `          ${waiting.hint ?? ''}`];
}
