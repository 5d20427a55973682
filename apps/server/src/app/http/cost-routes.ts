import { costs, costsQuery } from '@vitto/contracts';
import { viewerOf, type WebApp } from '../../channels/index.ts';
import { readSettings } from '../../identity/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import { readCosts } from '../../ops/index.ts';

/** What was spent. */
export function addCostRoutes(app: WebApp, deps: { database: Database; dailyCostUsd: number | null }): void {
  app.get(
    '/api/costs',
    {
      schema: {
        tags: ['costs'],
        summary: 'What I spent: by day and model, the dearest tasks, today and this month',
        description:
          'Days are those of my time zone. Turns whose price is not known are counted, not priced. `today` is what the cap on a day counts: also calls whose answer never came.',
        querystring: costsQuery,
        response: { 200: costs },
      },
    },
    async (request) => {
      const { userId } = viewerOf(request);
      const { timeZone, dailyCostUsd } = await readSettings(deps.database, userId);
      const limits = [dailyCostUsd, deps.dailyCostUsd].filter((limit) => limit !== null);
      return readCosts(
        {
          database: deps.database,
          limitUsd: limits.length === 0 ? null : Math.min(...limits),
          timeZone,
          now: Date.now(),
        },
        userId,
        request.query,
      );
    },
  );
}
