import { useRef, useState } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';

export interface Action<A extends unknown[], T> {
  /** Resolves to `null` when it failed, or when one is under way already. */
  run: (...args: A) => Promise<T | null>;
  isBusy: boolean;
  error: ApiError | null;
  isDone: boolean;
  /** Forgets how the last one went: what was typed has changed. */
  forget: () => void;
}

/**
 * One change at a time: a second press does nothing while the first is on its way. After an answer that was lost, a
 * try has the same idempotency key, so that nothing is made twice.
 */
export function useAction<A extends unknown[], T>(
  work: (key: string, ...args: A) => Promise<T>,
): Action<A, T> {
  const [state, setState] = useState<{ isBusy: boolean; error: ApiError | null; isDone: boolean }>(IDLE);
  const key = useRef<string | null>(null);
  const isBusy = useRef(false);

  const run = async (...args: A): Promise<T | null> => {
    if (isBusy.current) return null;
    isBusy.current = true;
    key.current ??= crypto.randomUUID();
    setState({ isBusy: true, error: null, isDone: false });
    try {
      const result = await work(key.current, ...args);
      key.current = null;
      setState({ isBusy: false, error: null, isDone: true });
      return result;
    } catch (failure) {
      const error = toApiError(failure);
      if (!mayHaveArrived(error)) key.current = null;
      setState({ isBusy: false, error, isDone: false });
      return null;
    } finally {
      isBusy.current = false;
    }
  };
  /** A changed form is another request. */
  const forget = () => {
    if (isBusy.current) return;
    key.current = null;
    setState(IDLE);
  };
  return { ...state, run, forget };
}

const IDLE = { isBusy: false, error: null, isDone: false };
