import { sentMessage } from '@vitto/contracts';
import { useRef } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';

/** Answers a task's question; gives what went wrong. The same answer cannot arrive twice. */
export function useTaskAnswer(
  taskId: string,
): (question: { callId: string }, text: string) => Promise<ApiError | null> {
  const { client } = useVitto();
  const keys = useRef(new Map<string, string>());
  return async ({ callId }, text) => {
    const id = `${callId}\n${text}`;
    const idempotencyKey = keys.current.get(id) ?? crypto.randomUUID();
    keys.current.set(id, idempotencyKey);
    const path = `/tasks/${encodeURIComponent(taskId)}/messages`;
    const body = { text, answers: callId };
    try {
      await client.send({ method: 'POST', path, body, idempotencyKey, schema: sentMessage });
      return null;
    } catch (failure) {
      const error = toApiError(failure);
      if (!mayHaveArrived(error)) keys.current.delete(id);
      return error;
    }
  };
}
