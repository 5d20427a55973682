/**
 * Shows what a person must see before saying yes: characters that are invisible or that move others about (controls,
 * escapes, zero-width and direction marks, odd spaces, tags, private use, halves of characters) are written as
 * `⟨U+202E⟩`. Line ends and tabs stay.
 */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

// Spaces other than U+0020 look like it; Default_Ignorable covers what has no width, tags and variation selectors included.
const HIDDEN = /(?![\n\t ])[\p{C}\p{Default_Ignorable_Code_Point}\p{Z}]/gu;

/**
 * The exact arguments of a call, a block a field, each line of a text behind a bar so that a value cannot pose as
 * another field. Nothing is shortened: what is shown is what runs.
 */
export function showArguments(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return showValue(value);
  const fields = Object.entries(value);
  if (fields.length === 0) return ['(no arguments)'];
  return fields.flatMap(([name, field]) => {
    const key = toVisibleText(name).replaceAll('\n', '⟨U+000A⟩');
    const lines = showValue(field);
    return lines.length === 1
      ? [`${key}: ${lines[0] ?? ''}`]
      : [`${key}:`, ...lines.map((line) => `│ ${line}`)];
  });
}

function showValue(value: unknown): string[] {
  if (typeof value === 'string') return toVisibleText(value).split('\n');
  return toVisibleText(JSON.stringify(value, null, 2) ?? 'undefined').split('\n');
}
