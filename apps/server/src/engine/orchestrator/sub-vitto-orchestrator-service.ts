import type { DeployAgents, NewEvent } from '@vitto/contracts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import { cutText, toTitle } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { toStorableText } from '../../kernel/text/storable.ts';
import { listSubVittos, readBudgetLeft, type NewSubVitto } from '../journal/sub-vitto.store.ts';
import { taskCreated, type NewTask, type TaskRecord } from '../journal/task.store.ts';
import { runningMs, type Run } from '../loop/run-context.ts';
import type { Model } from '../models/model.ts';
import type { AgentAccess } from '../tools/tool.ts';
import type { SubVittoLimits } from './limits.ts';
import type { ParentBudget } from './plan-budgets.ts';
import { planRound, type PlannedSubVitto } from './plan-round.ts';

/** What a parent's journal holds of a description, in UTF-16 units; the whole is the sub-Vitto's first message. */
const SHOWN_MAX_LENGTH = 500;

export interface OrchestratorOptions {
  database: Database;
  limits: SubVittoLimits;
  /** Hands a message to a sub-Vitto; throws AppError `task.not-found`, `task.ended`. */
  steer: (request: { userId: string; taskId: string; text: string; isTainted: boolean }) => Promise<unknown>;
  /** Ends a sub-Vitto and all below it; ending an ended one changes nothing. */
  stop: (request: { userId: string; taskId: string; reason?: string | undefined }) => Promise<unknown>;
}

/** Deploys the sub-Vittos of tasks and gives tasks a hold on them (specification 03). */
export class SubVittoOrchestratorService {
  readonly #options: OrchestratorOptions;

  constructor(options: OrchestratorOptions) {
    this.#options = options;
  }

  get limits(): SubVittoLimits {
    return this.#options.limits;
  }

  /** What the tools of one call reach of the sub-Vittos of its task. */
  openAccess(run: Run, callId: string): AgentAccess {
    const { database, steer, stop } = this.#options;
    const { id, userId } = run.task;
    return {
      roundOf: () => run.state.rounds.find((round) => round.callId === callId)?.subTaskIds ?? null,
      unread: () => run.state.unreadSubVittos,
      hasUnread: () => run.transcript.hasUnread,
      deploy: (input) => this.#deploy(run, callId, input),
      list: () => listSubVittos(database.pool, id),
      steer: (taskId, text) => steer({ userId, taskId, text, isTainted: run.task.isTainted }),
      stop: (taskId, reason) => stop({ userId, taskId, reason }),
    };
  }

  async #deploy(
    run: Run,
    callId: string,
    input: DeployAgents,
  ): Promise<{ refusal: string } | { ids: string[] }> {
    const { limits } = this.#options;
    const number = run.state.rounds.length + 1;
    if (number > limits.maxRounds) {
      return {
        refusal: `This task has had its ${limits.maxRounds} rounds of sub-Vittos; there is no other. Go on with what they found.`,
      };
    }
    const parent = await this.#readParent(run);
    const plan = planRound(input, {
      registry: run.deps.registry,
      parent,
      limits,
      named: run.task.tools,
    });
    if ('refusal' in plan) return plan;
    const models = await run.deps.resolveSubVittoModels();
    const unpriced = parent.costNano === null ? undefined : models.find((model) => model.price === null);
    if (unpriced !== undefined) return { refusal: refuseUnpriced(unpriced) };
    const children = toChildren(run.task, number, plan.subVittos, run);
    await run.journal.spawn({
      children: children.map(({ row }) => row),
      pool: plan.pool,
      maxParallel: limits.maxParallel,
      events: [
        {
          type: 'orchestrator.round',
          payload: {
            roundNumber: number,
            subTaskIds: children.map(({ row }) => row.task.id),
            synthesis: input.synthesis ?? null,
            callId,
            maxRounds: limits.maxRounds,
          },
        },
        ...children.flatMap(({ row, planned }) => spawned(row.task, planned)),
      ],
    });
    return { ids: children.map(({ row }) => row.task.id) };
  }

  async #readParent(run: Run): Promise<ParentBudget> {
    const { pool } = this.#options.database;
    const left = await readBudgetLeft(pool, run.task.id);
    const below = run.state.rounds.length === 0 ? [] : await listSubVittos(pool, run.task.id);
    const { maxDurationMs } = run.task;
    const first = below.filter((child) => child.round === 1 && child.maxDurationMs !== null);
    return {
      ...left,
      depth: run.task.depth,
      iterationsLeft: run.task.maxIterations - run.state.iteration,
      durationLeftMs: maxDurationMs === null ? null : Math.max(0, maxDurationMs - runningMs(run)),
      givenMs: first.length === 0 ? null : first.reduce((sum, child) => sum + (child.maxDurationMs ?? 0), 0),
      usedBelowMs: below.reduce((sum, child) => sum + child.ranMs, 0),
    };
  }
}

function refuseUnpriced(model: Model): string {
  return `The budget has a money cap, and there is no price known for ${model.id}, which sub-Vittos would use: the cap could not be kept. Do the work yourself.`;
}

function toChildren(
  parent: TaskRecord,
  round: number,
  plan: readonly PlannedSubVitto[],
  run: Run,
): { row: NewSubVitto; planned: PlannedSubVitto }[] {
  const ids = plan.map(() => newId());
  return plan.map((planned, index) => {
    const dependsOn = planned.dependsOn.flatMap((on) => ids[on] ?? []);
    const task: NewTask = {
      id: ids[index] ?? newId(),
      userId: parent.userId,
      parentId: parent.id,
      rootId: parent.rootId,
      depth: parent.depth + 1,
      kind: 'subvitto',
      role: planned.role,
      conversationId: null,
      title: toTitle(storable(planned.description)),
      tier: planned.tier,
      complexity: planned.complexity,
      estimatedDuration: planned.estimatedDuration,
      allowedPaths: parent.allowedPaths,
      model: parent.model,
      // What a task writes that has read text from outside may hold some of it.
      isTainted: parent.isTainted,
      place: {
        round,
        index,
        dependsOn,
        tools: planned.tools,
        acceptanceCheck: planned.check === null ? null : storable(planned.check),
      },
      budget: planned.budget,
    };
    return { row: { task, events: firstEvents(task, planned, run) }, planned };
  });
}

function firstEvents(task: NewTask, { description }: PlannedSubVitto, run: Run): NewEvent[] {
  const { state } = run;
  const template = state.vm?.template ?? state.template;
  const mayDegrade = state.mayDegrade || state.isDegraded || state.degradation?.decision === 'approved';
  return [
    taskCreated(task),
    {
      type: 'user.message',
      payload: {
        messageId: newId(),
        text: description,
        source: 'deploy_agents',
        allowedPaths: task.allowedPaths,
        ...(mayDegrade ? { mayDegrade: true } : {}),
        // The same image is the same machine: what siblings hand over by path is there.
        ...(template === null ? {} : { template }),
      },
    },
    { type: 'task.queued', payload: { reason: 'created' } },
  ];
}

function spawned(task: NewTask, planned: PlannedSubVitto): NewEvent[] {
  const { place } = task;
  const event: NewEvent = {
    type: 'subvitto.spawned',
    payload: {
      id: task.id,
      parentTaskId: task.parentId ?? task.id,
      role: task.role,
      tier: planned.tier,
      depth: task.depth,
      description: cutText(storable(planned.description), SHOWN_MAX_LENGTH),
      title: task.title,
      tools: planned.offer.names,
      withheld: planned.offer.withheld,
      budget: task.budget,
      ...(planned.check === null ? {} : { check: planned.check }),
      ...(place === undefined ? {} : { round: place.round, index: place.index, dependsOn: place.dependsOn }),
    },
  };
  if (planned.degradedReason === null) return [event];
  const payload = { id: task.id, reason: planned.degradedReason, fallbackTier: 'in-process' };
  return [event, { type: 'subvitto.vm_degraded', payload }];
}

function storable(text: string): string {
  return maskSecrets(toStorableText(text));
}
