import type { CostAmount, Costs } from '@vitto/contracts';
import {
  dayIn,
  readDailyUsage,
  readDaySpending,
  readDearestTasks,
  readSubVittoCosts,
  type DayUsage,
  type DearTask,
} from '../engine/index.ts';
import type { Database } from '../kernel/database/database.ts';
import { addDays, toDayRange, type AskedDays } from './costs-range.ts';
import { forecastMonth } from './forecast-month.ts';

const DEAREST = 50;
/** Days before today that a forecast may need: a month and what it looks back on. */
const FORECAST_DAYS = 31;

export interface CostSources {
  database: Database;
  /** The smaller of the installation's and the user's cap on a day, in US dollars. */
  limitUsd: number | null;
  timeZone: string;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * What a user's turns used, by day and model, with the dearest tasks, today's cap and a forecast.
 * @throws AppError `costs.bad-range`.
 */
export async function readCosts(sources: CostSources, userId: string, asked: AskedDays): Promise<Costs> {
  const { timeZone, limitUsd } = sources;
  const sql = sources.database.pool;
  const today = dayIn(timeZone, sources.now);
  const range = toDayRange(asked, today);
  const [usage, recent, tasks, subVittos, spending] = await Promise.all([
    readDailyUsage(sql, userId, range),
    readDailyUsage(sql, userId, { from: addDays(today, -FORECAST_DAYS), to: today }),
    readDearestTasks(sql, userId, { ...range, timeZone }, DEAREST),
    readSubVittoCosts(sql, userId, { ...range, timeZone }),
    readDaySpending(sql, userId, today),
  ]);
  return {
    ...range,
    timeZone,
    total: sumUp(usage),
    days: usage.map((row) => ({ day: row.day, model: row.model, ...sumUp([row]) })),
    models: byModel(usage),
    tasks: tasks.map(toCostlyTask),
    subVittos: subVittos.map(({ costNano, ...of }) => ({ ...of, costUsd: toUsd(costNano) })),
    today: {
      costUsd: spending.costNano / 1e9,
      reservedUsd: spending.reservedCostNano / 1e9,
      limitUsd,
    },
    forecast: forecastMonth(byDay(recent), today),
  };
}

function sumUp(rows: readonly DayUsage[]): CostAmount {
  const sum = (field: Exclude<keyof DayUsage, 'day' | 'model'>) =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    turns: sum('turns'),
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
    costUsd: sum('costNano') / 1e9,
    unpricedTurns: sum('unpricedTurns'),
  };
}

/** The dearest first; those that cost nothing by how much they wrote and read. */
function byModel(rows: readonly DayUsage[]): Costs['models'] {
  const tokens = (amount: CostAmount) => amount.inputTokens + amount.outputTokens;
  return [...Map.groupBy(rows, (row) => row.model)]
    .map(([model, its]) => ({ model, ...sumUp(its) }))
    .sort((a, b) => b.costUsd - a.costUsd || tokens(b) - tokens(a));
}

function byDay(rows: readonly DayUsage[]): Map<string, number> {
  const days = Map.groupBy(rows, (row) => row.day);
  return new Map([...days].map(([day, its]) => [day, sumUp(its).costUsd]));
}

function toCostlyTask({ costNano, createdAt, ...task }: DearTask): Costs['tasks'][number] {
  return {
    ...task,
    createdAt: createdAt.toISOString(),
    costUsd: toUsd(costNano),
  };
}

function toUsd(costNano: number | null): number | null {
  return costNano === null ? null : costNano / 1e9;
}
