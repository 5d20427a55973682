import { useRef } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import type { QuestionItem } from './model/view.ts';

/** Answers a question with one of its choices; gives what went wrong. The same answer cannot arrive twice. */
export function useAnswer(
  conversationId: string,
): (question: QuestionItem, text: string) => Promise<ApiError | null> {
  const { api } = useVitto();
  const keys = useRef(new Map<string, string>());
  return async ({ callId, taskId, isOfAgent }, text) => {
    const id = `${callId}\n${text}`;
    const key = keys.current.get(id) ?? crypto.randomUUID();
    keys.current.set(id, key);
    try {
      if (isOfAgent) await api.steerTask(taskId, { text, answers: callId }, key);
      else await api.sendMessage(conversationId, { text, answers: callId }, key);
      return null;
    } catch (failure) {
      const problem = toApiError(failure);
      if (!mayHaveArrived(problem)) keys.current.delete(id);
      return problem;
    }
  };
}
