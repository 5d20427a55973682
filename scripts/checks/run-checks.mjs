import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { runQuietly } from '../bootstrap/run-program.mjs';
import { CACHE, ROOT, Stop } from '../bootstrap/surroundings.mjs';

const TOOLS_CACHE = 'node_modules/.cache';
const LIMIT_MS = 10 * 60_000;

/** Report of the unit tests that `npm run check` leaves, for whoever adds up several runs. */
const UNIT_REPORT = join(CACHE, 'unit-report.json');

/** Long ones first: they run side by side, as many as there are processors. */
const CHECKS = {
  lint: [
    'eslint/bin/eslint.js',
    '.',
    '--cache',
    '--cache-location',
    `${TOOLS_CACHE}/eslint/`,
    '--cache-strategy',
    'content',
    '--max-warnings',
    '0',
  ],
  types: [
    'typescript/bin/tsc',
    '--noEmit',
    '-p',
    '.',
    '--incremental',
    '--tsBuildInfoFile',
    `${TOOLS_CACHE}/types.tsbuildinfo`,
  ],
  'types-web': [
    'typescript/bin/tsc',
    '--noEmit',
    '-p',
    'apps/web',
    '--incremental',
    '--tsBuildInfoFile',
    `${TOOLS_CACHE}/types-web.tsbuildinfo`,
  ],
  unit: [
    'vitest/vitest.mjs',
    'run',
    '--project',
    'unit',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${UNIT_REPORT}`,
  ],
  boundaries: [
    'dependency-cruiser/bin/dependency-cruiser.mjs',
    'apps',
    'packages',
    '--config',
    '.dependency-cruiser.cjs',
  ],
  format: [
    'prettier/bin/prettier.cjs',
    '--check',
    '.',
    '--log-level',
    'warn',
    '--cache',
    '--cache-location',
    `${TOOLS_CACHE}/prettier/.prettier-cache`,
  ],
};

/** `npm run check`: all of them, or the named ones. Each prints one line, and what it found when it fails. */
export async function run(names) {
  const unknown = names.filter((name) => !(name in CHECKS));
  if (unknown.length > 0)
    throw new Stop(`There is no check ${unknown.join(', ')}; there are: ${Object.keys(CHECKS).join(', ')}.`);
  const chosen = Object.keys(CHECKS).filter(
    (name) => (names.length === 0 || names.includes(name)) && mayRun(name),
  );
  mkdirSync(CACHE, { recursive: true });
  rmSync(UNIT_REPORT, { force: true });
  const failed = [];
  const waiting = [...chosen];
  const runNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (!(await runCheck(name))) failed.push(name);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runNext));
  console.log(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join(', ')}.`);
  return failed.length === 0 ? 0 : 1;
}

async function runCheck(name) {
  const started = performance.now();
  const [tool, ...args] = CHECKS[name];
  const result = await runQuietly(process.execPath, [join(ROOT, 'node_modules', tool), ...args], {
    timeoutMs: LIMIT_MS,
  });
  if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${result.ok ? '✓' : '✗'} ${name} (${seconds} s)`);
  // The runner's own words on the tests are worth seeing either way.
  if (!result.ok || name === 'unit') console.log(result.output.trim());
  return result.ok;
}

function mayRun(name) {
  return name !== 'types-web' || existsSync(join(ROOT, 'apps/web/tsconfig.json'));
}
