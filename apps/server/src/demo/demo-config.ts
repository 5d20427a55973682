import { join } from 'node:path';
import type { Config } from '../app/config.ts';
import { demoCacheOf, DEMO_SCRIPT } from './prepare-demo.ts';

/**
 * The configuration of a Vitto for the demo alone: a home and a database of its own, kept for the next demo, so that
 * nothing of the user's is touched; and no model but the script, so that nothing is sent anywhere.
 */
export function demoConfig(user: Config, port: number): Config {
  return {
    ...user,
    home: join(demoCacheOf(user.home), 'home'),
    host: '127.0.0.1',
    port,
    databaseUrl: null,
    roles: ['server', 'worker', 'sandbox'],
    models: { models: { main: `script:${DEMO_SCRIPT}` }, providers: {} },
    rootBudget: { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null, maxDurationMs: null },
    dailyCostUsd: null,
    // It does its job at once, in the process sandbox and saying so, until the image it needs has been built.
    sandbox: { ...user.sandbox, degrade: 'allow' },
  };
}
