import {
  settings,
  settingsLimits,
  systemStatus,
  updateSettings as settingsChange,
  type Settings,
  type SystemStatus,
} from '@vitto/contracts';
import { changedFields, viewerOf, type WebApp } from '../../channels/index.ts';
import { readSettings, updateSettings } from '../../identity/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { SandboxHosts } from '../../sandbox/index.ts';
import { chooseBudget, type RunDependencies, keepKnownPaths } from '../../runs/index.ts';

/** A user's settings, and how the installation is. */
export function addSettingsRoutes(
  app: WebApp,
  deps: {
    database: Database;
    runs: RunDependencies;
    readSystemStatus: (userId: string) => Promise<SystemStatus>;
    dailyCostUsd: number | null;
    sandboxHosts: Pick<SandboxHosts, 'setNetworkPolicy'>;
  },
): void {
  const { database, runs } = deps;

  app.get(
    '/api/settings',
    { schema: { tags: ['settings'], summary: 'My settings', response: { 200: settings } } },
    (request) => readSettings(database, viewerOf(request).userId),
  );

  app.get(
    '/api/settings/limits',
    {
      schema: {
        tags: ['settings'],
        summary: 'What this installation allows at most',
        response: { 200: settingsLimits },
      },
    },
    () => ({ budget: runs.rootBudget, dailyCostUsd: deps.dailyCostUsd }),
  );

  app.patch(
    '/api/settings',
    {
      config: { audit: { action: 'settings.changed', object: 'settings', detail: changedFields } },
      schema: {
        tags: ['settings'],
        summary: 'Change the settings that are given',
        body: settingsChange,
        response: { 200: settings },
      },
    },
    async (request) => {
      const change = request.body;
      const { userId } = viewerOf(request);
      for (const list of Object.values(change.models ?? {})) {
        await runs.checkModels(list, { userId, needsPrice: false });
      }
      chooseBudget(runs.rootBudget, {}, change.budget ?? {});
      const current = await readSettings(database, userId);
      checkDailyCap(change.dailyCostUsd ?? null, deps.dailyCostUsd);
      await checkPrices(runs, userId, current, change);
      const paths = change.allowedPaths;
      const allowedPaths =
        paths === undefined ? undefined : await keepKnownPaths(runs, paths, current.allowedPaths, userId);
      const changed = await updateSettings(database, userId, { ...change, allowedPaths });
      // Machines that run follow at once.
      if (change.network !== undefined) await deps.sandboxHosts.setNetworkPolicy(userId, changed.network);
      return changed;
    },
  );

  app.get(
    '/api/system',
    {
      schema: {
        tags: ['settings'],
        summary: 'How the parts of this installation are',
        response: { 200: systemStatus },
      },
    },
    (request) => deps.readSystemStatus(viewerOf(request).userId),
  );
}

type Change = { [K in keyof Settings]?: Settings[K] | undefined };

/** @throws AppError `budget.above-limit`. */
function checkDailyCap(wanted: number | null, limit: number | null): void {
  if (wanted === null || limit === null || wanted <= limit) return;
  throw new AppError(
    'budget.above-limit',
    `The cap asks for ${wanted} dollars a day; this installation allows ${limit}.`,
    {
      status: 422,
      hint: `Ask for at most ${limit}, or raise the installation's limit (VITTO_DAILY_COST_USD).`,
      errors: [{ path: 'dailyCostUsd', message: `at most ${limit}` }],
    },
  );
}

/**
 * A money cap is refused when it is set, not discovered by the first task (specification 01, "Budgets").
 * @throws AppError `budget.no-price`.
 */
async function checkPrices(
  runs: RunDependencies,
  userId: string,
  current: Settings,
  change: Change,
): Promise<void> {
  if (change.budget === undefined && change.dailyCostUsd === undefined && change.models === undefined) return;
  const next = { ...current, ...change };
  const needsPrice = (next.budget?.maxCostUsd ?? null) !== null || (next.dailyCostUsd ?? null) !== null;
  if (needsPrice) await runs.checkModels(next.models?.main ?? null, { userId, needsPrice });
}
