import { createContext, use, useMemo, useState, type ReactNode } from 'react';

interface Drafts {
  /** What was typed and not saved, by `section.form`. */
  values: ReadonlyMap<string, unknown>;
  write: (key: string, value: unknown) => void;
}
const DraftsContext = createContext<Drafts>({ values: new Map(), write: () => {} });

/** Keeps what is typed in each section while people look at another one. In memory only: some of it is secret. */
export function DraftsProvider({ children }: { children: ReactNode }) {
  const [values, setValues] = useState<ReadonlyMap<string, unknown>>(new Map());
  const drafts = useMemo<Drafts>(
    () => ({
      values,
      write: (key, value) =>
        setValues((before) => {
          const after = new Map(before);
          if (value === undefined) after.delete(key);
          else after.set(key, value);
          return after;
        }),
    }),
    [values],
  );
  return <DraftsContext value={drafts}>{children}</DraftsContext>;
}

export interface Draft<T> {
  value: T;
  isChanged: boolean;
  change: (value: T) => void;
  /** Back to what is saved. */
  reset: () => void;
}

/** What one form holds; `saved` until somebody changes it. */
export function useDraft<T>(key: string, saved: T): Draft<T> {
  const { values, write } = use(DraftsContext);
  const isChanged = values.has(key);
  return {
    value: isChanged ? (values.get(key) as T) : saved,
    isChanged,
    change: (value) => write(key, isSame(value, saved) ? undefined : value),
    reset: () => write(key, undefined),
  };
}

/** The sections that hold something unsaved. */
export function useUnsavedSections(): ReadonlySet<string> {
  const { values } = use(DraftsContext);
  return new Set([...values.keys()].map((key) => key.split('.')[0] ?? ''));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
