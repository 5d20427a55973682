import {
  settings,
  systemStatus,
  updateSettings as settingsChange,
  type SystemStatus,
} from '@vitto/contracts';
import { viewerOf, type WebApp } from '../../channels/index.ts';
import { readSettings, updateSettings } from '../../identity/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import { chooseBudget, type RunDependencies, keepKnownPaths } from '../../runs/index.ts';

/** A user's settings, and how the installation is. */
export function addSettingsRoutes(
  app: WebApp,
  deps: {
    database: Database;
    runs: RunDependencies;
    readSystemStatus: (userId: string) => Promise<SystemStatus>;
  },
): void {
  const { database, runs } = deps;

  app.get(
    '/api/settings',
    { schema: { tags: ['settings'], summary: 'My settings', response: { 200: settings } } },
    (request) => readSettings(database, viewerOf(request).userId),
  );

  app.patch(
    '/api/settings',
    {
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
      const paths = change.allowedPaths;
      const known = (await readSettings(database, userId)).allowedPaths;
      const allowedPaths = paths === undefined ? undefined : await keepKnownPaths(runs, paths, known);
      return updateSettings(database, userId, { ...change, allowedPaths });
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
