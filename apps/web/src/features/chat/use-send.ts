import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { mayHaveArrived, toApiError, type ApiError } from '../../api/api-error.ts';
import { conversationQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { afterFailure, EMPTY_DRAFT, readDraft, toAttempt, useDraft } from './draft.ts';

/** Sends to a conversation that exists. A text stays in the composer until the server has it. */
export function useSend(conversationId: string) {
  const { api } = useVitto();
  const queries = useQueryClient();
  const [draft, setDraft] = useDraft(conversationId);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isBusy = useRef(false);
  const answerKeys = useRef(new Map<string, string>());

  const deliver = async (): Promise<void> => {
    const attempt = toAttempt(draft);
    setDraft({ ...draft, attempt });
    await api.sendMessage(conversationId, { text: attempt.text }, attempt.key);
    setDraft(EMPTY_DRAFT);
    // The first message names the conversation.
    void queries.invalidateQueries({ queryKey: conversationQuery(api, conversationId).queryKey });
  };
  const send = (): void => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setError(null);
    void deliver()
      .catch((failure: unknown) => {
        const problem = toApiError(failure);
        setDraft(afterFailure(readDraft(conversationId), problem));
        setError(problem);
      })
      .finally(() => {
        isBusy.current = false;
        setSending(false);
      });
  };
  /** Answers a question with one of its choices; gives what went wrong. */
  const answer = async (callId: string, text: string): Promise<ApiError | null> => {
    const id = `${callId}\n${text}`;
    const key = answerKeys.current.get(id) ?? crypto.randomUUID();
    answerKeys.current.set(id, key);
    try {
      await api.sendMessage(conversationId, { text, answers: callId }, key);
      return null;
    } catch (failure) {
      const problem = toApiError(failure);
      if (!mayHaveArrived(problem)) answerKeys.current.delete(id);
      return problem;
    }
  };
  const setText = (text: string): void => setDraft({ ...readDraft(conversationId), text });
  return { draft, setText, send, answer, isSending, error };
}
