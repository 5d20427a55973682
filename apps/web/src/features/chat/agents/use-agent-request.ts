import { useRef, useState } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../../api/api-error.ts';

/** One request at a time; sent again after it may have arrived, it is the same one to the server. */
export function useAgentRequest(send: (key: string) => Promise<void>) {
  const key = useRef(crypto.randomUUID());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const request = async (): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setError(null);
    try {
      await send(key.current);
      key.current = crypto.randomUUID();
      return true;
    } catch (failure) {
      const problem = toApiError(failure);
      if (!mayHaveArrived(problem)) key.current = crypto.randomUUID();
      setError(problem);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { request, isBusy, error };
}
