import { createContext, use, useState, type ReactNode } from 'react';

/**
 * State that outlives its component: what scrolls out of a long list leaves the page, and comes back as it was.
 * Within one `KeptState`, by the name of the part (`KeptPart`) and of the state.
 */
const Kept = createContext<Map<string, unknown> | null>(null);
const Part = createContext('');

export function KeptState({ children }: { children: ReactNode }) {
  const [kept] = useState(() => new Map<string, unknown>());
  return <Kept value={kept}>{children}</Kept>;
}

export function KeptPart({ name, children }: { name: string; children: ReactNode }) {
  return <Part value={name}>{children}</Part>;
}

/** As `useState`; outside of a `KeptState`, or without a name, it lives as long as its component. */
export function useKept<T>(name: string | null, initial: T): [T, (value: T) => void] {
  const kept = use(Kept);
  const key = `${use(Part)} ${name}`;
  const [value, setValue] = useState<T>(() => {
    const known = name === null ? undefined : kept?.get(key);
    return known === undefined ? initial : (known as T);
  });
  const change = (next: T) => {
    if (name !== null) kept?.set(key, next);
    setValue(next);
  };
  return [value, change];
}
