import { mapStrings } from '../../../kernel/text/storable.ts';

/**
 * Puts captured values in place of `{{name}}` in every string of a value. Names that were not captured stay as they
 * are: `{{secret:NAME}}` belongs to the tools.
 */
export function fillTemplate<T>(value: T, captured: ReadonlyMap<string, string>): T {
  if (captured.size === 0) return value;
  const fill = (text: string): string =>
    text.replace(/\{\{([A-Za-z_]\w*)\}\}/gu, (whole, name: string) => captured.get(name) ?? whole);
  return mapStrings(value, fill) as T;
}
