import { defineConfig } from 'vitest/config';

/** What is waited for comes when the machine gets to it: a poll ends when it is there, not after a second. */
const PATIENCE = { poll: { timeout: 20_000 } };
const DATABASE = './apps/server/src/kernel/database/testing-setup.ts';

// Three projects by file name: pure unit tests, integration tests on a real PostgreSQL, live tests (sandbox, browser, processes).
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // They share nothing but modules, and none is mocked: loading those once takes a third of the time off.
          isolate: false,
          include: ['{apps,packages}/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/*.live.test.ts', '**/node_modules/**'],
        },
      },
      {
        test: {
          name: 'int',
          expect: PATIENCE,
          globalSetup: DATABASE,
          include: ['{apps,packages}/*/src/**/*.int.test.ts'],
          exclude: ['**/node_modules/**'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'live',
          expect: PATIENCE,
          globalSetup: DATABASE,
          include: [
            '{apps,packages}/*/src/**/*.live.test.ts',
            'scripts/**/*.live.test.ts',
            'images/**/*.live.test.ts',
          ],
          exclude: ['**/node_modules/**'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
