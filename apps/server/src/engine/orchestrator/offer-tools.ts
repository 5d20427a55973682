import type { Tier, WithheldTool } from '@vitto/contracts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { AGENT_TOOLS, CORE_TOOLS, findRole } from './roles.ts';
import type { SubVittoLimits } from './limits.ts';

/** Who the tools are for. */
export interface OfferFilter {
  depth: number;
  /** `null`: a root task, which works wherever it needs. */
  tier: Tier | null;
  role: string | null;
  /** The tools that were named for it; `null`: none were. */
  named: readonly string[] | null;
}

export interface ToolOffer {
  /** In the order of the registry, so that the definitions are always the same text. */
  names: string[];
  /** Why a tool that there is was not given; `null` for one that was. */
  whyNot: (tool: Tool) => string | null;
  /** What its role or whoever deployed it would have given it. */
  withheld: WithheldTool[];
}

/** The tools of a task: all of them for a root task; for a sub-Vitto those of its tier, role and depth. */
export function offerTools(
  registry: ToolRegistry,
  filter: OfferFilter,
  limits: Pick<SubVittoLimits, 'maxDepth' | 'depth2MaxTools'>,
): ToolOffer {
  const few = filter.depth >= 2 ? chooseFew(registry, filter, limits) : null;
  const whyNot = (tool: Tool) => whyWithheld(tool, filter, limits, few);
  const tools = registry.names.map((name) => registry.find(name)).filter((tool) => tool !== null);
  const wanted = new Set<string>([...roleTools(filter.role), ...(filter.named ?? []), 'deploy_agents']);
  return {
    names: tools.filter((tool) => whyNot(tool) === null).map((tool) => tool.name),
    whyNot,
    withheld: tools.flatMap((tool) => {
      const reason = wanted.has(tool.name) && filter.depth > 0 ? whyNot(tool) : null;
      return reason === null ? [] : [{ tool: tool.name, reason }];
    }),
  };
}

function whyWithheld(
  tool: Tool,
  filter: OfferFilter,
  limits: Pick<SubVittoLimits, 'maxDepth' | 'depth2MaxTools'>,
  few: ReadonlySet<string> | null,
): string | null {
  const { depth, tier, role, named } = filter;
  if (AGENT_TOOLS.some((name) => name === tool.name)) {
    if (depth < limits.maxDepth) return null;
    return depth === 0
      ? 'sub-Vittos are switched off here (VITTO_MAX_NESTING_DEPTH is 0)'
      : `at depth ${depth} nobody deploys any more`;
  }
  if (depth === 0 || CORE_TOOLS.some((name) => name === tool.name)) return null;
  if (depth >= 2 && tool.tier !== 'in-process')
    return 'at depth 2 everything runs in-process, without a machine';
  if (tool.tier !== 'in-process' && tool.tier !== tier)
    return `it needs the tier ${tool.tier}, this sub-Vitto works in ${tier ?? 'in-process'}`;
  if (named !== null && !named.includes(tool.name)) return 'it is not among the tools that were named for it';
  if (role !== null && !isOfRole(tool, role)) return `the role ${role} does not have it`;
  if (few !== null && !few.has(tool.name))
    return `at depth 2 there are at most ${limits.depth2MaxTools} tools`;
  return null;
}

/** At depth 2: as many of the role's in-process tools as the limit leaves beside the core ones, the most useful first. */
function chooseFew(
  registry: ToolRegistry,
  filter: OfferFilter,
  limits: Pick<SubVittoLimits, 'maxDepth' | 'depth2MaxTools'>,
): Set<string> {
  const order = filter.named ?? [...roleTools(filter.role ?? 'researcher'), ...registry.names];
  const fits = order.filter((name) => {
    const tool = registry.find(name);
    const isCore = [...CORE_TOOLS, ...AGENT_TOOLS].some((core) => core === name);
    return tool !== null && !isCore && whyWithheld(tool, filter, limits, null) === null;
  });
  return new Set([...new Set(fits)].slice(0, Math.max(0, limits.depth2MaxTools - CORE_TOOLS.length)));
}

function roleTools(role: string | null): readonly string[] {
  return findRole(role)?.tools ?? [];
}

function isOfRole(tool: Tool, role: string): boolean {
  const found = findRole(role);
  if (found === null) return false;
  return (
    found.tools.includes(tool.name) || (tool.name.startsWith('mcp__') && found.domains.includes(tool.domain))
  );
}
