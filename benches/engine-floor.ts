// The floor under any loop that keeps as much as Vitto's does: two committed inserts a step, and nothing else.
import pg from 'pg';
import { countQueries } from './count-queries.ts';
import { FINAL_TEXT } from './instant-model.ts';
import { serveSubject } from './subject-protocol.ts';

const INSERT = { name: 'floor', text: 'insert into floor (payload) values ($1)' };
const PAYLOAD = JSON.stringify({ text: 'x'.repeat(400) });

const queries = countQueries(pg.Client);

await serveSubject(async () => {
  const client = new pg.Client({ connectionString: process.env['BENCH_DATABASE_URL'] });
  await client.connect();
  await client.query('create table floor (id bigint generated always as identity primary key, payload json)');
  return {
    info: {
      name: 'floor: two bare inserts',
      version: null,
      persists: 'two rows of 400 bytes, PostgreSQL, no loop at all',
    },
    run: async (steps) => {
      const before = queries();
      for (let step = 0; step < steps; step += 1) {
        await client.query({ ...INSERT, values: [PAYLOAD] });
        await client.query({ ...INSERT, values: [PAYLOAD] });
      }
      return { toolCalls: steps, text: FINAL_TEXT, statements: queries() - before };
    },
    close: () => client.end(),
  };
});
