import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';

interface Shown<S> {
  show: (state: S) => void;
  /** Asks the server how it is. */
  refresh: () => void;
}

/**
 * Switches and lists that count at once: each choice is shown when it is made and they are sent one after the other, so
 * that none is lost. What the server says is shown once the last has been answered; after a refusal, too.
 */
export function useChoices<S>({ show, refresh }: Shown<S>) {
  const [error, setError] = useState<ApiError | null>(null);
  const waiting = useRef(0);
  const last = useRef<Promise<void>>(Promise.resolve());
  const choose = (shown: S, send: () => Promise<S>) => {
    setError(null);
    show(shown);
    waiting.current += 1;
    last.current = last.current.then(send).then(
      (state) => {
        waiting.current -= 1;
        if (waiting.current === 0) show(state);
      },
      (failure: unknown) => {
        waiting.current -= 1;
        setError(toApiError(failure));
        refresh();
      },
    );
  };
  return { choose, error };
}
