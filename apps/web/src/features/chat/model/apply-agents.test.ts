import type { EventEnvelope, EventPayload } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { describeActivity, findActiveTask } from './active-task.ts';
import type { AgentsItem } from './agents-item.ts';
import { EMPTY_LOG, foldConversation } from './fold-conversation.ts';

const PARENT = idOf(1);
const [ONE, TWO, THREE] = [idOf(11), idOf(12), idOf(13)] as const;
const ARGS = { tasks: [{ description: 'a' }, { description: 'b' }] };

type Progress = Partial<EventPayload<'subvitto.progress'>>;

/** Tells rounds as a parent's journal does. */
class Teller {
  readonly make = new EventMaker();
  readonly events: EventEnvelope[] = [];

  add(...events: EventEnvelope[]): this {
    this.events.push(...events);
    return this;
  }
  called(callId = 'd1'): this {
    const { make } = this;
    return this.add(
      make.created(PARENT),
      make.started(PARENT),
      make.turn(PARENT, 1, '', { calls: [{ id: callId, tool: 'deploy_agents', input: ARGS }] }),
      make.starting(PARENT, callId, 'deploy_agents', ARGS),
    );
  }
  deployed(ids: string[], more: Partial<EventPayload<'orchestrator.round'>> = {}): this {
    const { make } = this;
    const round = { roundNumber: 1, subTaskIds: ids, synthesis: 'join them', callId: 'd1', maxRounds: 3 };
    this.add(make.make(PARENT, 'orchestrator.round', { ...round, ...more }));
    ids.forEach((id, index) => this.spawned(id, { index, title: `task ${index}` }));
    return this.add(
      make.make(PARENT, 'task.parked', {
        state: 'waiting_children',
        waitingFor: { kind: 'children', callId: round.callId, childIds: ids },
      }),
    );
  }
  spawned(id: string, more: Partial<EventPayload<'subvitto.spawned'>> = {}): this {
    return this.add(
      this.make.make(PARENT, 'subvitto.spawned', {
        id,
        parentTaskId: PARENT,
        role: 'coder',
        tier: 'vm',
        depth: 1,
        description: 'do it\nwell',
        ...more,
      }),
    );
  }
  progress(id: string, more: Progress = {}): this {
    const progress = { id, iteration: 1, currentTool: null, ...more };
    return this.add(this.make.make(PARENT, 'subvitto.progress', progress));
  }
  done(id: string, success = true): this {
    const end = { id, success, duration: 4_000, toolsUsed: [], cost: 0.01, result: `report of ${id}` };
    return this.add(this.make.make(PARENT, 'subvitto.completed', end));
  }
  failed(id: string, status: 'failed' | 'cancelled' | 'timeout'): this {
    const end = { id, error: 'no luck', iteration: 2, status, duration: 900 };
    return this.add(this.make.make(PARENT, 'subvitto.failed', end));
  }
  view(from = 0) {
    return foldConversation(EMPTY_LOG, this.events.slice(from)).view;
  }
  groups(from = 0): AgentsItem[] {
    return this.view(from).items.filter((item) => item.kind === 'agents');
  }
  group(): AgentsItem {
    const groups = this.groups();
    expect(groups).toHaveLength(1);
    return groups[0] as AgentsItem;
  }
  kinds(from = 0): string[] {
    return this.view(from).items.map(({ kind }) => kind);
  }
}

describe('the group of a round', () => {
  it('takes the place of the card of its call, and keeps it when the call has its result', () => {
    const told = new Teller().called();
    expect(told.kinds()).toEqual(['answer', 'tool']);
    const card = told.view().items[1];
    told.deployed([ONE, TWO]);
    expect(told.kinds()).toEqual(['answer', 'agents']);
    expect(told.group()).toMatchObject({ key: card?.key, position: card?.position, round: 1, maxRounds: 3 });
    expect(told.group()).toMatchObject({ synthesis: 'join them', stage: 'running', endedAt: null });
    told.done(ONE).done(TWO);
    told.add(told.make.called(PARENT, 'd1', 'deploy_agents', { text: 'two results' }));
    expect(told.kinds()).toEqual(['answer', 'agents']);
  });

  it('stays a card when the call is refused', () => {
    const told = new Teller().called();
    told.add(told.make.called(PARENT, 'd1', 'deploy_agents', { status: 'error', text: 'Not deployed' }));
    expect(told.view().items[1]).toMatchObject({ kind: 'tool', state: 'error', text: 'Not deployed' });
  });

  it('has a row for each in the order of the call, and says where each stands', () => {
    const told = new Teller().called().deployed([ONE, TWO, THREE]);
    told.spawned(THREE, {
      dependsOn: [ONE],
      withheld: [{ tool: 'git_push', reason: 'not of its role' }],
    });
    expect(told.group().agents.map(({ id, state }) => [id, state])).toEqual([
      [ONE, 'waiting'],
      [TWO, 'waiting'],
      [THREE, 'waiting'],
    ]);
    expect(told.group().agents[2]).toMatchObject({
      title: 'do it',
      dependsOn: [ONE],
      withheld: [{ tool: 'git_push', reason: 'not of its role' }],
    });
    told.progress(ONE, { currentTool: 'run_command', detail: 'npm test' });
    told.progress(TWO, { state: 'waiting_approval' });
    const [one, two] = told.group().agents;
    expect(one).toMatchObject({ state: 'running', tool: { name: 'run_command', detail: 'npm test' } });
    expect(one?.startedAt).toBe(told.events.at(-2)?.at);
    expect(two).toMatchObject({ state: 'asking', startedAt: told.events.at(-1)?.at });
  });

  it('lets the time of a tool go on while only the step changes, and begins it anew with another tool', () => {
    const told = new Teller().called().deployed([ONE]);
    told.progress(ONE, { currentTool: 'run_command', detail: 'npm test' });
    const before = told.group().agents[0]?.tool;
    told.progress(ONE, { iteration: 2, currentTool: 'run_command', detail: 'npm test' });
    expect(told.group().agents[0]?.tool).toEqual(before);
    told.progress(ONE, { iteration: 2, currentTool: 'run_command', detail: 'npm run lint' });
    expect(told.group().agents[0]?.tool?.detail).toBe('npm run lint');
    told.progress(ONE, { iteration: 3 });
    expect(told.group().agents[0]?.tool).toBeNull();
  });

  it('says how a VM came, and why there was none', () => {
    const told = new Teller().called().deployed([ONE, TWO]);
    const acquired = {
      id: ONE,
      vmId: 'v',
      restored: true,
      acquireTimeMs: 180,
      from: 'base-snapshot' as const,
    };
    told.add(told.make.make(PARENT, 'subvitto.vm_acquired', acquired));
    const degraded = { id: TWO, reason: 'no KVM', fallbackTier: 'process-sandbox' };
    told.add(told.make.make(PARENT, 'subvitto.vm_degraded', degraded));
    const [one, two] = told.group().agents;
    expect(one?.vm).toEqual({ restored: true, acquireTimeMs: 180, from: 'base-snapshot' });
    expect(two?.degraded).toEqual({ reason: 'no KVM', fallbackTier: 'process-sandbox' });
    expect(told.kinds()).toEqual(['answer', 'agents']);
  });

  it('tells five ends apart, and nothing that comes late changes one', () => {
    const ids = [11, 12, 13, 14, 15].map(idOf);
    const [a, b, c, d, e] = ids as [string, string, string, string, string];
    const told = new Teller().called().deployed(ids);
    told.done(a).done(b, false).failed(c, 'failed').failed(d, 'cancelled').failed(e, 'timeout');
    told.progress(a, { currentTool: 'run_command' });
    expect(told.group().agents.map(({ state, tool }) => [state, tool])).toEqual([
      ['done', null],
      ['unsuccessful', null],
      ['failed', null],
      ['cancelled', null],
      ['timeout', null],
    ]);
    expect(told.group().agents[0]).toMatchObject({ durationMs: 4_000, outcome: `report of ${a}` });
    expect(told.group().agents[2]).toMatchObject({ durationMs: 900, outcome: 'no luck' });
  });

  it('takes the time of a row from the journal, also where its first steps were not read', () => {
    const startedAt = '2026-01-01T00:00:00.000Z';
    const told = new Teller().called().deployed([ONE, TWO]).progress(ONE, { startedAt }).progress(TWO);
    expect(told.group().agents.map((agent) => agent.startedAt)).toEqual([startedAt, told.events.at(-1)?.at]);
    told.done(ONE).failed(TWO, 'failed');
    expect(told.group().agents.map((agent) => agent.durationMs)).toEqual([4_000, 900]);
  });

  it('synthesizes from the last end to the next turn of its parent', () => {
    const told = new Teller().called().deployed([ONE, TWO]).done(ONE);
    expect(told.group()).toMatchObject({ stage: 'running', endedAt: null });
    told.failed(TWO, 'failed');
    expect(told.group()).toMatchObject({ stage: 'synthesizing', endedAt: told.events.at(-1)?.at });
    told.add(told.make.turn(PARENT, 2, 'All is joined.'));
    expect(told.group().stage).toBe('done');
  });

  it('goes on while its parent makes a turn about something else', () => {
    const told = new Teller().called().deployed([ONE]).progress(ONE);
    told.add(told.make.called(PARENT, 'd1', 'deploy_agents', { data: { isInterim: true } }));
    told.add(told.make.turn(PARENT, 2, 'I hear you.'));
    expect(told.group()).toMatchObject({ stage: 'running', agents: [{ state: 'running' }] });
    expect(told.done(ONE).group().stage).toBe('synthesizing');
  });

  it('is one a round, each with its own', () => {
    const told = new Teller().called().deployed([ONE]).done(ONE);
    told.add(told.make.turn(PARENT, 2, '', { calls: [{ id: 'd2', tool: 'deploy_agents', input: ARGS }] }));
    told.deployed([TWO], { roundNumber: 2, callId: 'd2', synthesis: null });
    expect(
      told.groups().map(({ round, stage, agents }) => [round, stage, agents.map(({ id }) => id)]),
    ).toEqual([
      [1, 'done', [ONE]],
      [2, 'running', [TWO]],
    ]);
  });

  it('ends with its parent, and takes a later word on how one of it ended', () => {
    const told = new Teller().called().deployed([ONE, TWO]).progress(ONE);
    told.add(told.make.make(PARENT, 'task.cancelled', { by: 'web' }));
    expect(told.group()).toMatchObject({
      stage: 'done',
      endedAt: told.events.at(-1)?.at,
      agents: [{ state: 'cancelled' }, { state: 'cancelled' }],
    });
    expect(told.failed(ONE, 'timeout').group().agents[0]?.state).toBe('timeout');
  });

  it('shows what its call failed of after it had deployed', () => {
    const told = new Teller().called().deployed([ONE]);
    told.add(told.make.called(PARENT, 'd1', 'deploy_agents', { status: 'timeout', text: 'Too slow.' }));
    expect(told.group().trouble).toBe('Too slow.');
  });
});

describe('a page that begins within a round', () => {
  const whole = () => {
    const told = new Teller().called().deployed([ONE, TWO]).progress(ONE).progress(TWO).done(ONE).done(TWO);
    told.add(told.make.called(PARENT, 'd1', 'deploy_agents'));
    return told.add(told.make.turn(PARENT, 2, 'Joined.'));
  };

  it('shows those that it sees in one group, without the card of the call', () => {
    const told = whole();
    const from = told.events.findIndex(({ type }) => type === 'subvitto.progress');
    expect(told.kinds(from)).toEqual(['agents', 'answer']);
    expect(told.groups(from)[0]).toMatchObject({
      round: null,
      startedAt: null,
      stage: 'done',
      agents: [
        { id: ONE, title: '', state: 'done' },
        { id: TWO, title: '', state: 'done' },
      ],
    });
  });

  it('shows the card of the call when nothing else of the round is there', () => {
    const told = whole();
    const from = told.events.findIndex(({ type }) => type === 'tool.called');
    expect(told.kinds(from)).toEqual(['tool', 'answer']);
  });

  it('is right at each place where a page can begin, and whole when the page before it is there', () => {
    const { events } = whole();
    const expected = foldConversation(EMPTY_LOG, events).view.items;
    for (let from = 0; from <= events.length; from += 1) {
      const log = foldConversation(EMPTY_LOG, events.slice(from));
      expect(log.view.items.filter(({ kind }) => kind === 'agents').length).toBeLessThanOrEqual(1);
      expect(foldConversation(log, events.slice(0, from)).view.items).toEqual(expected);
    }
  });

  it('knows from those at work that their parent waits for them', () => {
    const told = new Teller().called().deployed([ONE, TWO]).progress(ONE).progress(TWO);
    const from = told.events.findIndex(({ type }) => type === 'subvitto.progress');
    expect(findActiveTask(told.view(from))?.state).toBe('waiting_children');
  });
});

describe('what runs now', () => {
  it('is how many are at work while the task waits for them, and a wait while none has begun', () => {
    const told = new Teller().called().deployed([ONE, TWO, THREE]);
    const activity = () => {
      const view = told.view();
      const task = findActiveTask(view);
      return task === null ? null : describeActivity(view, task);
    };
    expect(activity()).toEqual({ kind: 'state', state: 'waiting_children' });
    told.progress(ONE).progress(TWO, { state: 'waiting_approval' });
    expect(activity()).toEqual({ kind: 'agents', count: 2 });
    told.done(ONE);
    expect(activity()).toEqual({ kind: 'agents-ask', count: 1 });
    told.progress(THREE, { state: 'waiting_input' });
    expect(activity()).toEqual({ kind: 'agents-ask', count: 2 });
    told.progress(TWO);
    expect(activity()).toEqual({ kind: 'agents', count: 2 });
  });
});

it('draws a row of a hundred anew only when something of it has changed', () => {
  const ids = Array.from({ length: 100 }, (_, at) => idOf(1_000 + at));
  const told = new Teller().called().deployed(ids);
  const before = foldConversation(EMPTY_LOG, told.events);
  told.progress(ids[42] ?? '', { currentTool: 'run_command' });
  const after = foldConversation(before, told.events);
  const rows = (log: typeof before) => log.view.items.find((item) => item.kind === 'agents')?.agents ?? [];
  const changed = rows(after).flatMap((row, at) => (row === rows(before)[at] ? [] : [at]));
  expect(changed).toEqual([42]);
});
