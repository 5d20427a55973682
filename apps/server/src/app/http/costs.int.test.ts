import { costs as costsSchema } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer({ dailyCostUsd: 10 });
  await bed.database.pool.query(
    `insert into vitto_daily_usage (user_id, day, model, turns, input_tokens, cached_input_tokens, output_tokens, cost_nano, unpriced_turns)
     values ($1, '2026-01-30', 'a', 2, 100, 50, 10, 1500000000, 0), ($1, '2026-01-31', 'a', 1, 10, 0, 1, 500000000, 0),
       ($1, '2026-01-31', 'b', 3, 7, 0, 2, 0, 3), ($1, '2026-02-01', 'a', 9, 9, 9, 9, 9, 9)`,
    [bed.owner.userId],
  );
});
afterAll(() => bed.close());

const read = (query: string, token = bed.owner.token) =>
  createClient(server.url, token)(`/api/costs${query}`);

describe('GET /api/costs', () => {
  it('sums up the days that were asked for, by model', async () => {
    const answer = await read('?from=2026-01-30&to=2026-01-31');
    const costs = costsSchema.parse(answer.json);
    expect(costs.total).toEqual({
      turns: 6,
      inputTokens: 117,
      cachedInputTokens: 50,
      outputTokens: 13,
      costUsd: 2,
      unpricedTurns: 3,
    });
    expect(costs.days.map((one) => [one.day, one.model])).toEqual([
      ['2026-01-30', 'a'],
      ['2026-01-31', 'a'],
      ['2026-01-31', 'b'],
    ]);
    expect(costs.models.map((one) => [one.model, one.costUsd, one.unpricedTurns])).toEqual([
      ['a', 2, 0],
      ['b', 0, 3],
    ]);
  });

  it('is the last 30 days unless days are named, and nothing where nothing was used', async () => {
    const month = costsSchema.parse((await read('')).json);
    expect((Date.parse(month.to) - Date.parse(month.from)) / 86_400_000).toBe(29);
    const week = costsSchema.parse((await read('?days=7')).json);
    expect(week.to).toBe(month.to);
    expect((Date.parse(week.to) - Date.parse(week.from)) / 86_400_000).toBe(6);
    const empty = costsSchema.parse((await read('?from=2020-01-01&to=2020-12-31')).json);
    expect(empty).toMatchObject({ days: [], models: [], tasks: [], total: { turns: 0, costUsd: 0 } });
    const theirs = costsSchema.parse((await read('?from=2026-01-30&to=2026-01-31', bed.stranger.token)).json);
    expect(theirs.total.turns).toBe(0);
  });

  it.each(['?from=2026-02-01&to=2026-01-31', '?from=2025-01-01&to=2026-01-02', '?from=2999-01-01'])(
    'refuses the days %s and says which may be asked for',
    async (query) => {
      const answer = await read(query);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ code: 'costs.bad-range', hint: expect.stringContaining('366') });
    },
  );

  it.each(['?from=2026-02-30', '?to=today', '?days=0', '?days=367', '?days=x'])(
    'refuses %s',
    async (query) => {
      const answer = await read(query);
      expect(answer.status).toBe(422);
      expect(answer.json['code']).toBe('request.invalid');
    },
  );

  it('names the smaller of the caps on a day, with what is spent and set aside today', async () => {
    const settings = { dailyCostUsd: 4, timeZone: 'Pacific/Kiritimati' };
    expect((await read('')).json['today']).toEqual({ costUsd: 0, reservedUsd: 0, limitUsd: 10 });
    // A cap needs a model with a price, which this test bed has none of.
    await bed.database.pool.query(
      `insert into vitto_user_settings (user_id, settings) values ($1, $2)
       on conflict (user_id) do update set settings = excluded.settings`,
      [bed.owner.userId, JSON.stringify(settings)],
    );
    const costs = costsSchema.parse((await read('')).json);
    expect(costs.timeZone).toBe('Pacific/Kiritimati');
    await bed.database.pool.query(
      'insert into vitto_daily_spending (user_id, day, cost_nano, reserved_cost_nano) values ($1, $2, 2500000000, 1)',
      [bed.owner.userId, costs.to],
    );
    expect((await read('')).json['today']).toEqual({ costUsd: 2.5, reservedUsd: 1e-9, limitUsd: 4 });
  });
});
