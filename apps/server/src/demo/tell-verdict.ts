import type { Verdict } from './judge-demo.ts';
import { toPlainText } from './plain-text.ts';
import { describeSubVitto, nameSubVitto } from './sub-vitto-facts.ts';
import { describeTestRun } from './test-run.ts';

/** Says what the journals show of a demo: a line for each sub-Vitto, the tests before and after, and the end of it. */
export function tellVerdict(verdict: Verdict, write: (line: string) => void): void {
  const { before, after, subVittos, problems } = verdict;
  for (const one of subVittos) write(toPlainText(`sub-Vitto ${nameSubVitto(one)}: ${describeSubVitto(one)}`));
  if (before !== null) write(`tests before: ${describeTestRun(before)}`);
  if (after !== null) write(`tests after:  ${describeTestRun(after)}`);
  write(
    problems.length === 0
      ? '✔ The tests went from red to green, by the exit codes in the journal.'
      : toPlainText(`✖ The demo did not end as it should: ${problems.join('; ')}.`),
  );
}
