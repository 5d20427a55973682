import { isEndState } from '@vitto/contracts';
import { cutMiddle, cutText } from '../../kernel/text/cut.ts';
import type { SubVittoRecord } from '../journal/sub-vitto.store.ts';
import type { TaskRecord } from '../journal/task.store.ts';
import { RESULT_MAX_LENGTH } from '../loop/tool-result.ts';
import type { ArtifactAccess, ToolResult } from '../tools/tool.ts';
import { endStatus } from './end-event.ts';

/** What is left for the note that some are shortened. */
const NOTE_LENGTH = 300;
/** Below this a report is shown by its beginning alone. */
const LEAST_MIDDLE = 200;
/** What `cutMiddle` adds, at most. */
const CUT_MARK = 50;

/**
 * The results of sub-Vittos in the order they were deployed, each with how it ended. Each gets its share of what a
 * result may hold; where one is cut, the whole list is kept as an artifact.
 */
export async function describeResults(
  children: readonly SubVittoRecord[],
  artifacts: ArtifactAccess,
): Promise<ToolResult> {
  const heads = [describeCounts(children), ...children.map((child, at) => describeHead(child, at + 1))];
  const list = (max: number) =>
    heads
      .map((head, at) => (at === 0 ? head : `${head}\n${shorten(reports[at - 1] ?? '', max)}`))
      .join('\n\n');
  const reports = children.map(reportOf);
  const whole = list(Number.POSITIVE_INFINITY);
  const isTainted = children.some((child) => child.isTainted);
  const shared = {
    status: 'ok' as const,
    data: { agents: children.map(toLine) },
    ...(isTainted ? { untrusted: 'what sub-Vittos read' } : {}),
  };
  if (whole.length <= RESULT_MAX_LENGTH) return { ...shared, text: whole };
  const room = RESULT_MAX_LENGTH - NOTE_LENGTH - heads.join('\n\n').length;
  const share = Math.floor(room / children.length) - 1;
  const kept = await artifacts.save('sub-vitto-results.md', 'text/markdown; charset=utf-8', whole);
  const note = `[Some results are shortened. All of them, whole (${kept.bytes} bytes), are artifact ${kept.id}; page through it with read_artifact.]`;
  return { ...shared, text: `${list(share)}\n\n${note}`, artifacts: [kept] };
}

/** How sub-Vittos stand that have not all ended. */
export function describeStanding(children: readonly TaskRecord[]): string {
  return children
    .map(
      (child, at) => `${at + 1}. ${describeWho(child)}: ${statusOf(child)} (id ${child.id}): ${child.title}`,
    )
    .join('\n');
}

function describeCounts(children: readonly TaskRecord[]): string {
  const counts = Map.groupBy(children, statusOf);
  const parts = [...counts].map(([status, its]) => `${its.length} ${status}`);
  return `${count(children.length, 'sub-Vitto')}: ${parts.join(', ')}.`;
}

function describeHead(child: SubVittoRecord, number: number): string {
  // No time: it differs from run to run, and a recording could not be played for it.
  const files = child.files.map(({ name, id, bytes }) => `\nFile: ${name} (${bytes} bytes), artifact ${id}`);
  return `${number}. ${describeWho(child)}: ${statusOf(child)} after ${count(child.iterations, 'step')}, ${child.tokens} tokens (id ${child.id})${files.join('')}`;
}

/** Of a share that is too small for both ends only the beginning is left; what is gone is in the artifact. */
function shorten(report: string, max: number): string {
  if (report.length <= max) return report;
  if (max >= LEAST_MIDDLE) return cutMiddle(report, max - CUT_MARK).text;
  return max < 2 ? '…' : `${cutText(report, max - 1)}…`;
}

function reportOf(child: TaskRecord): string {
  if (child.state === 'completed') return child.result ?? '';
  if (child.error === null) return 'It was stopped before it had a result.';
  const { code, message } = child.error;
  const summary = child.error['summary'];
  return `${code}: ${message}${typeof summary === 'string' ? `\nWhat it had done: ${summary}` : ''}`;
}

function describeWho(child: TaskRecord): string {
  return `${child.role ?? 'agent'} (${child.tier ?? 'in-process'})`;
}

const WORDS = { failed: 'failed', cancelled: 'cancelled', timeout: 'timed out' } as const;
function statusOf(child: TaskRecord): string {
  if (!isEndState(child.state)) return child.state.replace('_', ' ');
  if (child.state !== 'completed') return WORDS[endStatus(child)];
  return child.isSuccess === true ? 'completed' : 'completed, but says it did not succeed';
}

function toLine(child: TaskRecord) {
  return {
    id: child.id,
    status: child.state === 'completed' || !isEndState(child.state) ? child.state : endStatus(child),
    success: child.isSuccess,
    role: child.role,
    tier: child.tier,
    iterations: child.iterations,
    tokens: child.tokens,
    durationMs: Math.round(child.ranMs),
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
