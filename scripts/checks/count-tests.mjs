import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * Adds up what vitest's JSON reporter wrote to `files`. A file that is missing or whole test files that could not
 * be loaded count as one failure each: nothing that did not run may look like nothing that failed.
 */
export function countTests(files) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const file of files) {
    const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    if (report === undefined) {
      sum.failed += 1;
      continue;
    }
    const broken = report.testResults.filter(
      (one) => one.status === 'failed' && !one.assertionResults.some((test) => test.status === 'failed'),
    );
    sum.passed += report.numPassedTests;
    sum.failed += report.numFailedTests + broken.length;
    sum.skipped += report.numPendingTests + report.numTodoTests;
    if (report.success === false && report.numFailedTests + broken.length === 0) sum.failed += 1;
  }
  return sum;
}

export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sum = countTests(process.argv.slice(2));
  console.log(closingLine(sum));
  process.exitCode = sum.failed === 0 ? 0 : 1;
}
