import { VERDICT_SOURCES, type Outcome, type VerdictSource } from '@vitto/contracts';

/** Whether a new word changes a verdict: the user's stands over a check's, that over the task's own; of equals the newest. */
export function changesVerdict(
  old: Pick<Outcome, 'success' | 'verdictSource'>,
  word: { success: boolean; source: VerdictSource },
): boolean {
  const isWeaker = VERDICT_SOURCES.indexOf(word.source) < VERDICT_SOURCES.indexOf(old.verdictSource);
  return !isWeaker && (word.source !== old.verdictSource || word.success !== old.success);
}
