import { useRef, useState } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../../api/api-error.ts';

/**
 * One request at a time. Sent again after it may have arrived, it is the same one to the server, as long as it is about
 * the same.
 */
export function useAgentRequest(send: (key: string) => Promise<void>) {
  const key = useRef(crypto.randomUUID());
  const sent = useRef('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const request = async (about = ''): Promise<boolean> => {
    if (isBusy) return false;
    if (sent.current !== about) key.current = crypto.randomUUID();
    sent.current = about;
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
