import type { Task } from '@vitto/contracts';
import { byPlace } from '../../agents/model/agent-rows.ts';

/** A sub-Vitto in the chart: a line of its own below the task that deployed it. */
export interface FamilyRow {
  task: Task;
  /** 0 for those that the task of the page has deployed. */
  level: number;
  /** Its place among those of its parent, from 1, over all rounds: what others name it by. */
  number: number;
  /** Numbers of those whose results it waits for. */
  after: number[];
  /** 1 for what depends on nothing, else one more than the latest wave of those that it waits for. */
  wave: number;
  /** The first of its round, or of its wave in it, where there is more than one. */
  begins: { round: number; wave: number } | null;
}

/** Everything below a task: round after round, in each of them wave after wave, each followed by what is below it. */
export function listFamily(taskId: string, tasks: Iterable<Task>): FamilyRow[] {
  const below = new Map<string, Task[]>();
  for (const task of tasks) {
    if (task.parentId === null) continue;
    const siblings = below.get(task.parentId);
    if (siblings === undefined) below.set(task.parentId, [task]);
    else siblings.push(task);
  }
  return growFamily(taskId, 0, below);
}

function growFamily(parentId: string, level: number, below: ReadonlyMap<string, Task[]>): FamilyRow[] {
  const children = [...(below.get(parentId) ?? [])].sort(byPlace);
  const numbers = new Map(children.map((task, at) => [task.id, at + 1]));
  const waves = findWaves(children);
  const waveOf = (task: Task) => waves.get(task.id) ?? 1;
  const ordered = children.sort((a, b) => roundOf(a) - roundOf(b) || waveOf(a) - waveOf(b) || byPlace(a, b));
  const isSplit = new Set(ordered.map((task) => `${roundOf(task)} ${waveOf(task)}`)).size > 1;
  return ordered.flatMap((task, at) => {
    const before = ordered[at - 1];
    const isFirst =
      before === undefined || roundOf(before) !== roundOf(task) || waveOf(before) !== waveOf(task);
    const row: FamilyRow = {
      task,
      level,
      number: numbers.get(task.id) ?? 0,
      after: task.dependsOn.flatMap((id) => numbers.get(id) ?? []),
      wave: waveOf(task),
      begins: isSplit && isFirst && level === 0 ? { round: roundOf(task), wave: waveOf(task) } : null,
    };
    return [row, ...growFamily(task.id, level + 1, below)];
  });
}

function roundOf(task: Task): number {
  return task.round ?? 1;
}

/** Siblings depend on earlier ones of their round alone or on later ones; never in a circle, which is refused. */
function findWaves(children: readonly Task[]): Map<string, number> {
  const known = new Map(children.map((task) => [task.id, task]));
  const waves = new Map<string, number>();
  const waveOf = (task: Task): number => {
    const found = waves.get(task.id);
    if (found !== undefined) return found;
    // Stands until its own are known, so that even a circle ends.
    waves.set(task.id, 1);
    const earlier = task.dependsOn.flatMap((id) => known.get(id) ?? []).map(waveOf);
    const wave = 1 + Math.max(0, ...earlier);
    waves.set(task.id, wave);
    return wave;
  };
  for (const task of children) waveOf(task);
  return waves;
}

/** Where a sub-Vitto stands in the chart, in shares of its width: in line from `x0` to `x1`, at work from there to `x2`. */
export interface FamilyBar {
  x0: number;
  x1: number;
  x2: number;
}

export function layOutFamily(
  rows: readonly FamilyRow[],
  now: number,
): { bars: FamilyBar[]; from: number; to: number } {
  const from = Math.min(...rows.map(({ task }) => Date.parse(task.createdAt)));
  const to = Math.max(from + 1, ...rows.map(({ task }) => endOf(task, now)));
  const toX = (time: number) => Math.min(1, Math.max(0, (time - from) / (to - from)));
  const bars = rows.map(({ task }) => ({
    x0: toX(Date.parse(task.createdAt)),
    x1: toX(startOf(task, now)),
    x2: toX(endOf(task, now)),
  }));
  return { bars, from, to };
}

/** What was stopped in line never began. */
export function startOf(task: Task, now: number): number {
  return task.startedAt === null ? endOf(task, now) : Date.parse(task.startedAt);
}

export function endOf(task: Task, now: number): number {
  return task.endedAt === null ? Math.max(now, Date.parse(task.createdAt)) : Date.parse(task.endedAt);
}
