/**
 * What can be run. `run`: a program under Node 24; `task`: a module of ours with `run(args)`, which gives the
 * exit code; `parts`: system programs it is better with; `web`: needs the web app built.
 */
export const COMMANDS = {
  start: { run: 'apps/server/src/main.ts', parts: ['bubblewrap', 'vms'], web: true },
  demo: { run: 'apps/server/src/demo/main.ts', parts: ['bubblewrap', 'vms'], web: true },
  cli: { run: 'apps/cli/src/main.ts' },
  test: { task: './checks/run-tests.mjs', parts: ['bubblewrap', 'chromium', 'vms'], web: true },
  check: { task: './checks/run-checks.mjs' },
  'build:web': { task: './bootstrap/web-app.mjs' },
  'bench:engine': { run: 'benches/engine.ts' },
  'bench:agents': { run: 'benches/agents.ts' },
  'bench:stream': { run: 'benches/stream.ts' },
  'bench:start': { run: 'benches/start.ts', web: true },
  'bench:web': { run: 'benches/web/bench.ts', parts: ['chromium'], web: true },
  'bench:vm': { run: 'benches/vm.ts', parts: ['bubblewrap', 'vms'] },
};
