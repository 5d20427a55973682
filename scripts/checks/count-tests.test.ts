import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

interface Sum {
  passed: number;
  failed: number;
  skipped: number;
}
const { countTests, closingLine } = (await import(new URL('./count-tests.mjs', import.meta.url).href)) as {
  countTests(files: string[]): Sum;
  closingLine(sum: Sum): string;
};

const folder = mkdtempSync(join(tmpdir(), 'vitto-count-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the closing line of the tests', () => {
  it('adds up several runs', () => {
    const files = [
      report({ numPassedTests: 3, numPendingTests: 1 }),
      report({ numPassedTests: 2, numFailedTests: 1, numTodoTests: 1 }),
    ];
    expect(closingLine(countTests(files))).toBe('5 passed, 1 failed, 2 skipped');
  });

  it('counts a run that left no report as a failure', () => {
    expect(countTests([join(folder, 'never-written.json')])).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it('counts a test file that could not be loaded as a failure', () => {
    const broken = report({ numPassedTests: 4, testResults: [{ status: 'failed', assertionResults: [] }] });
    expect(countTests([broken])).toEqual({ passed: 4, failed: 1, skipped: 0 });
  });

  it('counts a run that failed outside of its tests as a failure', () => {
    expect(countTests([report({ numPassedTests: 4, success: false })])).toEqual({
      passed: 4,
      failed: 1,
      skipped: 0,
    });
  });
});

let written = 0;
function report(fields: object): string {
  const empty = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    success: true,
    testResults: [],
  };
  const file = join(folder, `${(written += 1)}.json`);
  writeFileSync(file, JSON.stringify({ ...empty, ...fields }));
  return file;
}
