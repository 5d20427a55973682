import type { Budget, Complexity, DeployAgents, EstimatedDuration, SubTask, Tier } from '@vitto/contracts';
import { estimateTask } from '../budget/estimate-task.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { checkDependencies } from './check-dependencies.ts';
import { inferTier } from './infer-tier.ts';
import type { SubVittoLimits } from './limits.ts';
import { offerTools, type ToolOffer } from './offer-tools.ts';
import { AGENT_TOOLS, CORE_TOOLS } from './roles.ts';
import { planBudgets, type ParentBudget, type RoundBudget } from './plan-budgets.ts';

/** A sub-Vitto as it will be deployed. */
export interface PlannedSubVitto {
  description: string;
  tier: Tier;
  /** Why it works elsewhere than was asked for; `null` when it does not. */
  degradedReason: string | null;
  role: string | null;
  tools: string[] | null;
  /** A command whose exit code 0 accepts its work. */
  check: string | null;
  complexity: Complexity;
  estimatedDuration: EstimatedDuration;
  budget: Budget;
  /** Indices in the round. */
  dependsOn: number[];
  offer: ToolOffer;
}

export type PlannedRound = { subVittos: PlannedSubVitto[]; pool: RoundBudget['pool'] } | { refusal: string };

export interface RoundSetting {
  registry: ToolRegistry;
  parent: ParentBudget;
  limits: SubVittoLimits;
  /** The tools that were named for the parent itself; `null`: none were. Nobody below it has others. */
  named: readonly string[] | null;
}

/** Checks a call of `deploy_agents` and plans its round; what is wrong with it is told as a sentence for the model. */
export function planRound({ tasks }: DeployAgents, setting: RoundSetting): PlannedRound {
  const { registry, parent, limits, named } = setting;
  const problem =
    checkDependencies(tasks.map((task) => task.dependsOn ?? [])) ??
    tasks.map((task, index) => checkTask(task, index, registry, named)).find((one) => one !== null);
  if (problem !== undefined && problem !== null) return { refusal: problem };
  const depth = parent.depth + 1;
  const places = tasks.map((task) => choosePlace(task, depth, registry));
  const mayBrowse = depth < 2 && hasTier(registry, 'browser');
  const unavailable = places.findIndex((place) => place.tier === 'browser' && !mayBrowse);
  if (unavailable !== -1) return { refusal: refuseBrowser(unavailable) };
  const unchecked = tasks.findIndex(({ check }, at) => check !== undefined && places[at]?.tier !== 'vm');
  if (unchecked !== -1) {
    const why = depth >= 2 ? 'at depth 2 nobody has one' : 'name the tier vm';
    return { refusal: `tasks.${unchecked}.check: a check is a command and needs a machine: ${why}.` };
  }
  const budgets = planBudgets(
    places.map((place) => place.tier),
    parent,
    limits,
  );
  if ('refusal' in budgets) return budgets;
  const subVittos = tasks.map((task, index) => {
    const place = places[index] ?? places[0];
    const budget = budgets.budgets[index] ?? budgets.budgets[0];
    if (place === undefined || budget === undefined) throw new Error('a task of the round has no plan');
    return toSubVitto(task, { depth, place, budget }, setting);
  });
  return { subVittos, pool: budgets.pool };
}

function toSubVitto(
  task: SubTask,
  { depth, place, budget }: { depth: number; place: Place; budget: Budget },
  { registry, limits, named }: RoundSetting,
): PlannedSubVitto {
  const { description, role = null, tools = named, check = null, complexity, dependsOn = [] } = task;
  const estimated = estimateTask(description);
  return {
    description,
    ...place,
    role,
    tools: tools === null ? null : [...tools],
    check,
    complexity: complexity ?? estimated.complexity,
    estimatedDuration: estimated.estimatedDuration,
    budget,
    dependsOn: [...new Set(dependsOn)],
    offer: offerTools(registry, { depth, tier: place.tier, role, named: tools }, limits),
  };
}

/** What is given without being named. */
const GIVEN = new Set<string>([...CORE_TOOLS, ...AGENT_TOOLS]);

function checkTask(
  task: SubTask,
  index: number,
  registry: ToolRegistry,
  named: readonly string[] | null,
): string | null {
  if (task.expert !== undefined) {
    return `tasks.${index}.expert: there are no experts yet. Leave \`expert\` out and name a \`role\`.`;
  }
  const unknown = task.tools?.find((name) => registry.find(name) === null);
  if (unknown === undefined) {
    const other =
      named === null ? undefined : task.tools?.find((name) => !GIVEN.has(name) && !named.includes(name));
    return other === undefined
      ? null
      : `tasks.${index}.tools: this task was not given ${other} itself, so nobody below it has it. There are: ${named?.join(', ')}.`;
  }
  const near = registry.findNear(unknown, registry.names);
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
  return `tasks.${index}.tools: there is no tool named "${unknown}".${hint}`;
}

type Place = Pick<PlannedSubVitto, 'tier' | 'degradedReason'>;

function choosePlace(task: SubTask, depth: number, registry: ToolRegistry): Place {
  const tiers = (task.tools ?? []).flatMap((name) => registry.find(name)?.tier ?? []);
  const inferred = task.check === undefined ? inferTier(task.description, tiers) : 'vm';
  // Words are a hint: they never ask for what there is not.
  const tier = task.tier ?? (hasTier(registry, inferred) ? inferred : 'in-process');
  if (tier !== 'vm' || depth < 2) return { tier, degradedReason: null };
  const isAsked = task.tier === 'vm' || tiers.includes('vm');
  return {
    tier: 'in-process',
    degradedReason: isAsked ? 'At depth 2 everything runs in-process, without a machine.' : null,
  };
}

function hasTier(registry: ToolRegistry, tier: Tier): boolean {
  return tier === 'in-process' || registry.names.some((name) => registry.find(name)?.tier === tier);
}

function refuseBrowser(index: number): string {
  return `tool_unavailable: tasks.${index} needs a browser, and a sub-Vitto cannot have one here. Use fetch_webpage where that will do, or leave the task out.`;
}
