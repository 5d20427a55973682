/**
 * One rule for text that PostgreSQL, strict JSON parsers and terminals refuse:
 * U+0000 becomes U+2400 (the visible symbol for NUL), a lone surrogate becomes U+FFFD.
 */
export function toStorableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u2400') : wellFormed;
}

const SUSPECT = /\\u0000|\\ud[89a-f][0-9a-f]{2}/;

/**
 * Serialises a value for a `json` column, with `toStorableText` applied to every string and key in it.
 * `text` is its plain JSON where the caller has it already.
 */
export function toStorableJson(value: unknown, text = JSON.stringify(value)): string {
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(mapStrings(value, toStorableText));
}

/** A copy of a JSON value with every string, keys included, passed through `map`. Prototypes are never touched. */
export function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  const json = (value as { toJSON?: () => unknown }).toJSON;
  if (typeof json === 'function') return mapStrings(json.call(value), map);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map)]));
}
