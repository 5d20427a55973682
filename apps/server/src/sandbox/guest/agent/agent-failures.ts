import { GuestError } from '@vitto/contracts';
import { FAILURES, type FailureCode } from '../failure-words.ts';
import type { AgentFailure } from './agent-channel.ts';

/** Codes of FAIL that are refusals of what was asked for. */
const CODES: Record<number, FailureCode> = {
  1: 'bad-path',
  2: 'not-found',
  3: 'not-a-file',
  4: 'not-a-directory',
  5: 'read-only',
  6: 'denied',
  7: 'too-large',
  8: 'no-space',
  9: 'changed',
};
export const BUSY = 10;

/** What a guest's FAIL means to the caller. Refusals are worded here; of the rest the guest's own words are told, cut. */
export function guestErrorOf(failure: AgentFailure): GuestError {
  const code = CODES[failure.code];
  if (code !== undefined) {
    const { message, hint }: { message: string; hint?: string } = FAILURES[code];
    return new GuestError(code, message, hint);
  }
  const words = failure.message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
  const why = failure.code === BUSY ? 'The machine is busy' : 'The machine could not do this';
  return new GuestError('unavailable', `${why}: ${words}`, 'Try again; destroy the machine if it stays so.');
}
