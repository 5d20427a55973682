import { parse } from 'yaml';

const PAUSES = new Set(['delayMs', 'stream']);

/** A script of the scripted model without the pauses that are for people who watch. The result is JSON, and so YAML. */
export function removePauses(script: string): string {
  const content: unknown = parse(script);
  return JSON.stringify(content, (key, value: unknown) => (PAUSES.has(key) ? undefined : value));
}
