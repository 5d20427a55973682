/**
 * The value with every lone surrogate in its strings replaced by U+FFFD: strict JSON parsers refuse half a character,
 * and one in a conversation would make every later request of it fail. What is already well formed, which is nearly
 * everything, is returned as the same object and not copied. Bytes, URLs and dates are left alone.
 */
export function toWellFormedValue<T>(value: T): T {
  return walk(value) as T;
}

/** Messages that were found well formed; a conversation gives the same ones to each request. */
const clean = new WeakSet<object>();

/** `toWellFormedValue` for a prompt, looking at each message once however often it is sent. Messages never change. */
export function toWellFormedPrompt<T extends object>(messages: readonly T[]): T[] {
  return messages.map((message) => {
    if (clean.has(message)) return message;
    const result = toWellFormedValue(message);
    clean.add(result);
    return result;
  });
}

function walk(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(walk);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  let copy: [string, unknown][] | null = null;
  const entries = Object.entries(value);
  entries.forEach(([key, item], index) => {
    const cleanKey = key.isWellFormed() ? key : key.toWellFormed();
    const cleanItem = walk(item);
    if (cleanKey === key && cleanItem === item) return;
    copy ??= [...entries];
    copy[index] = [cleanKey, cleanItem];
  });
  return copy === null ? value : Object.fromEntries(copy);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
