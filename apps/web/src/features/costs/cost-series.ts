import type { CostAmount, Costs } from '@vitto/contracts';

export type Measure = 'cost' | 'tokens';

const DAY_MS = 86_400_000;

export function measureOf(amount: CostAmount, measure: Measure): number {
  return measure === 'cost' ? amount.costUsd : amount.inputTokens + amount.outputTokens;
}

/** Every day from the first to the last, also those without use. */
export function listDays({ from, to }: Pick<Costs, 'from' | 'to'>): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

/**
 * The models by what they come to, the largest first, each with its value of every day; those beyond `most` together
 * in the last series (`others`).
 */
export function toSeries(
  costs: Costs,
  measure: Measure,
  { most, others }: { most: number; others: string },
): { days: string[]; series: { name: string; values: number[] }[] } {
  const days = listDays(costs);
  const place = new Map(days.map((day, index) => [day, index]));
  const names = costs.models
    .toSorted((a, b) => measureOf(b, measure) - measureOf(a, measure))
    .map((entry) => entry.model);
  const own = names.length > most ? names.slice(0, most - 1) : names;
  const series = [...own, ...(names.length > most ? [others] : [])].map((name) => ({
    name,
    values: days.map(() => 0),
  }));
  for (const entry of costs.days) {
    const index = own.indexOf(entry.model);
    const values = series[index === -1 ? series.length - 1 : index]?.values;
    const at = place.get(entry.day);
    if (values !== undefined && at !== undefined) values[at] = (values[at] ?? 0) + measureOf(entry, measure);
  }
  return { days, series };
}
