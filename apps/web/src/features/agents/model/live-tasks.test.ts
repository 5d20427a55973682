import type { Task } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { EventMaker, idOf, USAGE } from '../../../testing/event-maker.ts';
import { taskShape } from '../../../testing/fake-shapes.ts';
import { listBudgets } from './budget-left.ts';
import { applyToTasks, NO_TASKS } from './live-tasks.ts';

const [PARENT, CHILD] = [idOf(1), idOf(2)];
const used = USAGE.inputTokens + USAGE.outputTokens;

describe('the tasks of the list', () => {
  it('come to be, work and end by their events alone', () => {
    const make = new EventMaker();
    let live = applyToTasks(NO_TASKS, [
      make.created(PARENT),
      make.started(PARENT),
      make.created(CHILD, { parentTaskId: PARENT, depth: 1 }),
      make.started(CHILD),
      make.turn(CHILD, 1, 'I look.'),
      make.starting(CHILD, 'c', 'run_command', { command: 'ls' }),
    ]);
    expect(live.tasks.get(CHILD)).toMatchObject({
      state: 'running',
      spending: { iterations: 1, tokens: used },
    });
    expect(live.tasks.get(PARENT)).toMatchObject({
      spending: { iterations: 0, tokens: used, costUsd: 0.01 },
      spentBelow: { tokens: used, costUsd: 0.01 },
    });
    expect(live.tasks.get(CHILD)?.spentBelow).toEqual({ tokens: 0, costUsd: 0 });
    expect(live.calls.get(CHILD)).toMatchObject({ tool: 'run_command', arguments: { command: 'ls' } });
    live = applyToTasks(live, [make.called(CHILD, 'c', 'run_command'), make.completed(CHILD, 'Done.')]);
    expect(live.tasks.get(CHILD)).toMatchObject({ state: 'completed', result: 'Done.', success: true });
    expect(live.calls.get(CHILD)).toBeNull();
  });

  it('add what a grandchild spends to both above it, and an unknown price makes theirs unknown', () => {
    const make = new EventMaker();
    const grandchild = idOf(3);
    const live = applyToTasks(NO_TASKS, [
      make.created(PARENT),
      make.created(CHILD, { parentTaskId: PARENT, rootTaskId: PARENT, depth: 1 }),
      make.created(grandchild, { parentTaskId: CHILD, rootTaskId: PARENT, depth: 2 }),
      make.turn(CHILD, 1, 'one'),
      make.turn(grandchild, 1, 'two', { costUsd: null }),
    ]);
    expect(live.tasks.get(PARENT)?.spentBelow).toEqual({ tokens: 2 * used, costUsd: null });
    expect(live.tasks.get(CHILD)).toMatchObject({
      spending: { iterations: 1, tokens: 2 * used, costUsd: null },
      spentBelow: { tokens: used, costUsd: null },
    });
  });

  it('count nothing twice that the server had counted', () => {
    const make = new EventMaker();
    const events = [make.created(PARENT), make.started(PARENT), make.turn(PARENT, 1, 'x')];
    const task = { ...(taskShape(PARENT) as Task), lastSeq: 3 };
    const live = applyToTasks({ ...NO_TASKS, tasks: new Map([[PARENT, task]]) }, events);
    expect(live.tasks.get(PARENT)).toBe(task);
  });
});

it('the tightest budget comes first, and what has no limit or no price is not one', () => {
  const budget = { maxIterations: 10, maxTokens: 1000, maxCostUsd: 1, maxDurationMs: null };
  const spending = { iterations: 1, tokens: 900, costUsd: null, durationMs: 5 };
  expect(listBudgets(budget, spending).map((one) => one.kind)).toEqual(['tokens', 'iterations']);
  expect(listBudgets(budget, { ...spending, tokens: 5000 })[0]?.share).toBe(0);
});
