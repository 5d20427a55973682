import { AsyncLocalStorage } from 'node:async_hooks';
import { SECRET_SHAPES } from '@vitto/contracts';
import { secretForms } from './secret-forms.ts';
import type { ValueMask } from './value-mask.ts';

/**
 * Masks secrets in text: well-known token shapes, the values that this installation knows (its own provider keys, the
 * database password), and the vault's values of the user for whom the work is done (`maskingAlso`). Runs before
 * anything is journaled, logged or sent to a model.
 * Placeholders such as ${API_TOKEN} and plain hashes are left alone.
 */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST_TEXT) return text;
  let masked = text;
  for (const value of knownValues)
    if (masked.includes(value)) masked = masked.replaceAll(value, '[secret masked]');
  masked = usersValues.getStore()?.current.mask(masked) ?? masked;
  for (const { name, pattern } of SECRET_SHAPES) masked = masked.replace(pattern, `[${name} masked]`);
  return masked;
}

const SHORTEST_TEXT = 6;

/** A user's values as they are now: work that has begun sees them change. */
export interface CurrentMask {
  current: ValueMask;
}

/** One user's values are never masked, and so never given away, in another user's text. */
const usersValues = new AsyncLocalStorage<CurrentMask>();

/** Does `work`, and all that follows from it, with a user's own values masked as well. */
export function maskingAlso<T>(mask: CurrentMask, work: () => T): T {
  return usersValues.run(mask, work);
}

/** Longest first, so that a value that contains another is masked whole. */
let knownValues: string[] = [];

/** Adds values that must never be shown anywhere, with the forms in which they turn up. */
export function registerSecrets(values: Iterable<string>): void {
  const all = new Set(knownValues);
  for (const value of values) {
    if (value.length >= 8) for (const form of secretForms(value)) all.add(form);
  }
  knownValues = [...all].sort((a, b) => b.length - a.length);
}

/** How many characters at the end of a chunk may be the beginning of a secret; streams hold that much back. */
export function longestSecret(): number {
  return Math.max(200, knownValues[0]?.length ?? 0, usersValues.getStore()?.current.longest ?? 0);
}
