import type { ProcessOutput } from '@vitto/contracts';
import { withoutCutEnd, withoutCutStart } from './captured-output.ts';

/** How much of a process's output one call gives. */
export const PROCESS_READ_BYTES = 256 * 1024;

/**
 * A part of a process's output as callers get it: never ends within a character unless nothing more can come.
 * @param asked the offset that was asked for; `start` the one at which `part` begins, later when what lies between is not kept.
 */
export function processText(
  part: Buffer,
  { asked, start, isLast }: { asked: number; start: number; isLast: boolean },
): Pick<ProcessOutput, 'text' | 'nextOffset' | 'missingBytes'> {
  const whole = isLast ? part : withoutCutEnd(part);
  const text = start > asked ? withoutCutStart(whole) : whole;
  return {
    text: text.toString('utf8'),
    nextOffset: start + whole.length,
    missingBytes: Math.max(0, start - asked) + (whole.length - text.length),
  };
}
