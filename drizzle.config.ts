import { defineConfig } from 'drizzle-kit';

// `npm run db:generate` writes a migration for what changed in the tables; it is read, then checked in.
export default defineConfig({
  dialect: 'postgresql',
  schema: './apps/server/src/**/tables.ts',
  out: './apps/server/migrations',
});
