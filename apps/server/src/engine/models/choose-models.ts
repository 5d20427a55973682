import type { Complexity, ModelRole } from '@vitto/contracts';

/** Outcomes that a model needs before its record counts (specification 01, "Models"). */
const ENOUGH_OUTCOMES = 20;
/** Share of success that a cheaper model may be behind the best. */
const TOLERANCE = 0.05;

/** What became of the tasks that a model did for one role and complexity. */
export interface ModelRecord {
  outcomes: number;
  successes: number;
  /** US dollars a task on average; `null` when unknown. */
  meanCostUsd: number | null;
}

export type ModelRecords = (modelId: string, role: ModelRole, complexity: Complexity) => ModelRecord | null;

/**
 * The order in which models are tried. Once the first configured model and others have 20 outcomes for the role and
 * complexity, the cheapest of those whose success is within 5 points of the best comes first, the others follow in
 * the configured order. Until then it is the configured order: what the user put first must get its chance.
 */
export function chooseModels<T extends { id: string }>(
  configured: readonly T[],
  records: ModelRecords,
  role: ModelRole,
  complexity: Complexity,
): T[] {
  const known = configured.flatMap((model) => {
    const record = records(model.id, role, complexity);
    return record !== null && record.outcomes >= ENOUGH_OUTCOMES ? [{ model, record }] : [];
  });
  const first = configured[0];
  if (first === undefined || known[0]?.model !== first) return [...configured];

  const best = Math.max(...known.map(({ record }) => successOf(record)));
  // A tiny slack: 0.9 - 0.85 is a little more than 0.05 in floating point.
  const good = known.filter(({ record }) => best - successOf(record) <= TOLERANCE + 1e-9);
  const cheapest = good.reduce((left, right) => (costOf(right.record) < costOf(left.record) ? right : left));
  return [cheapest.model, ...configured.filter((model) => model !== cheapest.model)];
}

function successOf(record: ModelRecord): number {
  return record.successes / record.outcomes;
}

/** An unknown cost cannot be called cheap. */
function costOf(record: ModelRecord): number {
  return record.meanCostUsd ?? Infinity;
}
