/**
 * One rule for text that PostgreSQL, strict JSON parsers and terminals refuse:
 * U+0000 becomes U+2400 (the visible symbol for NUL), a lone surrogate becomes U+FFFD.
 */
export function toStorableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u2400') : wellFormed;
}

/**
 * A JSON value with every string, keys included, passed through `map`; the very same object where nothing changes.
 * Prototypes are never touched.
 */
export function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapStrings(item, map));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const json = (value as { toJSON?: () => unknown }).toJSON;
  if (typeof json === 'function') return mapStrings(json.call(value), map);
  const entries = Object.entries(value);
  const mapped = entries.map(([key, item]): [string, unknown] => [map(key), mapStrings(item, map)]);
  const isSame = mapped.every(
    ([key, item], index) => key === entries[index]?.[0] && item === entries[index][1],
  );
  return isSame ? value : Object.fromEntries(mapped);
}
