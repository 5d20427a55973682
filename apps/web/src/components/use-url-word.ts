import { useNavigate, useSearch } from '@tanstack/react-router';

/** A word of the address (`?days=30`): a link to the page opens it as it is now. The first of the words needs no place in it. */
export function useUrlWord<T extends string>(
  name: string,
  words: readonly [T, ...T[]],
): [T, (word: T) => void] {
  const [text, setText] = useUrlText(name);
  const word = words.find((one) => one === text) ?? words[0];
  return [word, (next) => setText(next === words[0] ? '' : next)];
}

/** As `useUrlWord`, for any text; an empty one has no place in the address. */
export function useUrlText(name: string): [string, (text: string) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const found = search[name];
  const text = typeof found === 'string' || typeof found === 'number' ? String(found) : '';
  const setText = (next: string) =>
    void navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({
        ...before,
        [name]: next === '' ? undefined : toPlain(next),
      }),
      replace: true,
      resetScroll: false,
    } as Parameters<typeof navigate>[0]);
  return [text, setText];
}

/** The router writes a text that looks like a number in quotes; as a number it has none. */
function toPlain(text: string): string | number {
  return String(Number(text)) === text ? Number(text) : text;
}
