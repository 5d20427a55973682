import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError, mayHaveArrived, toApiError } from '../../api/api-error.ts';
import { CONVERSATIONS_KEY } from '../../api/queries.ts';
import { serverNow } from '../../api/server-clock.ts';
import { useVitto } from '../../api/vitto-context.tsx';

/** Starts the demo, once, and goes to its conversation. Who has gone elsewhere meanwhile stays there. */
export function useDemo() {
  const { api } = useVitto();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [startedAt, setStartedAt] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const key = useRef<string | null>(null);
  const isBusy = useRef(false);
  const isHere = useRef(false);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);

  const play = async () => {
    key.current ??= crypto.randomUUID();
    const { conversationId } = await api.startDemo(key.current);
    key.current = null;
    void queries.invalidateQueries({ queryKey: CONVERSATIONS_KEY });
    if (conversationId === null) throw new ApiError(201, 'shape', 'The demo has no conversation.');
    if (isHere.current) await navigate({ to: '/vitto/c/$conversationId', params: { conversationId } });
  };
  const start = () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setStartedAt(new Date(serverNow()).toISOString());
    setError(null);
    void play()
      .catch((failure: unknown) => {
        const problem = toApiError(failure);
        // After a refusal a try is a new one; a request whose answer was lost must not start a second demo.
        if (!mayHaveArrived(problem)) key.current = null;
        setError(problem);
      })
      .finally(() => {
        isBusy.current = false;
        setStartedAt(null);
      });
  };
  return { start, startedAt, error };
}
