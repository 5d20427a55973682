import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../bootstrap/run-program.mjs';
import { CACHE, ROOT } from '../bootstrap/surroundings.mjs';
import { makeImages } from './make-images.mjs';
import { closingLine, countTests } from './count-tests.mjs';

/**
 * `npm test`: the unit, integration and live tests, or what the arguments choose (they are vitest's:
 * `npm test -- --project unit src/engine`). Ends with the one line `N passed, N failed, N skipped`.
 */
export async function run(args) {
  const report = join(CACHE, 'test-report.json');
  mkdirSync(CACHE, { recursive: true });
  rmSync(report, { force: true });
  if (hasVmTests(args)) await makeImages();
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await runProgram(process.execPath, [vitest, 'run', ...reporters, ...args]);
  const sum = countTests([report]);
  // Errors outside of any test fail the run, too.
  if (code !== 0 && sum.failed === 0) sum.failed = 1;
  console.log(closingLine(sum));
  return code === 0 && sum.failed > 0 ? 1 : code;
}

/** Whether live tests are among those that are chosen. */
function hasVmTests(args) {
  const projects = args.flatMap((arg, at) =>
    arg === '--project'
      ? [args[at + 1]]
      : arg.startsWith('--project=')
        ? [arg.slice('--project='.length)]
        : [],
  );
  return projects.length === 0 || projects.some((name) => name === 'live' || /[*!]/.test(name ?? ''));
}
