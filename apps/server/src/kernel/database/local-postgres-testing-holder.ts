// For tests: a process that holds a local PostgreSQL until SIGTERM, to be killed, doubled or run as another user.
import { startLocalPostgres } from './local-postgres.ts';

const [dataDir = '', prefer = 'system'] = process.argv.slice(2);
const quiet = { info: () => undefined, warn: () => undefined };
try {
  const server = await startLocalPostgres({ dataDir, prefer: prefer as 'system' | 'packaged', log: quiet });
  const idle = setInterval(() => undefined, 60_000);
  process.once('SIGTERM', () => {
    void server.stop().then(() => clearInterval(idle));
  });
  process.stdout.write(`${JSON.stringify({ url: server.url, adopted: server.adopted })}\n`);
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  process.stdout.write(`${JSON.stringify({ code, message })}\n`);
}
