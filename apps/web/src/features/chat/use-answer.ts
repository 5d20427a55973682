import { useRef } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';

/** Answers a question with one of its choices; gives what went wrong. The same answer cannot arrive twice. */
export function useAnswer(
  conversationId: string,
): (callId: string, text: string) => Promise<ApiError | null> {
  const { api } = useVitto();
  const keys = useRef(new Map<string, string>());
  return async (callId, text) => {
    const id = `${callId}\n${text}`;
    const key = keys.current.get(id) ?? crypto.randomUUID();
    keys.current.set(id, key);
    try {
      await api.sendMessage(conversationId, { text, answers: callId }, key);
      return null;
    } catch (failure) {
      const problem = toApiError(failure);
      if (!mayHaveArrived(problem)) keys.current.delete(id);
      return problem;
    }
  };
}
