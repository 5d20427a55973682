import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { CONVERSATIONS_KEY, conversationQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import {
  afterFailure,
  afterSending,
  beginEdit,
  isSameList,
  leaveEdit,
  toAttempt,
  useDraft,
  type Draft,
  type SendAttempt,
} from './draft.ts';
import type { UserItem } from './model/view.ts';

/**
 * Writes and sends the messages of a conversation; the first message of one that does not exist yet (`null`) makes it.
 * A text stays in the composer until the server has it.
 * @param onSent gets the conversation that has the message now.
 */
export function useSend(conversationId: string | null, onSent: (conversationId: string) => void = () => {}) {
  const { api } = useVitto();
  const queries = useQueryClient();
  const [draft, change] = useDraft(conversationId);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isBusy = useRef(false);

  const keep = (attempt: SendAttempt): SendAttempt => {
    change((now) => ({ ...now, attempt }));
    return attempt;
  };
  const needConversation = async (wanted: Draft, attempt: SendAttempt): Promise<SendAttempt> => {
    if (attempt.conversationId === null) {
      const made = await api.createConversation(attempt.folders, `${attempt.key}-conversation`);
      return keep({ ...attempt, conversationId: made.id });
    }
    if (isSameList(attempt.folders, wanted.folders)) return attempt;
    await api.allowPaths(attempt.conversationId, wanted.folders);
    return keep({ ...attempt, folders: wanted.folders });
  };
  const deliver = async (wanted: Draft): Promise<void> => {
    let attempt = keep(toAttempt(wanted));
    if (conversationId === null) attempt = await needConversation(wanted, attempt);
    const id = conversationId ?? attempt.conversationId ?? '';
    await api.sendMessage(id, toMessage(attempt), attempt.key);
    change(afterSending);
    // The first message names the conversation.
    void queries.invalidateQueries({ queryKey: CONVERSATIONS_KEY });
    void queries.invalidateQueries({ queryKey: conversationQuery(api, id).queryKey });
    onSent(id);
  };
  const sendDraft = (wanted: Draft): void => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setError(null);
    void deliver(wanted)
      .catch((failure: unknown) => {
        const problem = toApiError(failure);
        change((now) => afterFailure(now, problem));
        setError(problem);
      })
      .finally(() => {
        isBusy.current = false;
        setSending(false);
      });
  };

  return {
    draft,
    change,
    isSending,
    error,
    forgetError: () => setError(null),
    send: () => sendDraft(draft),
    edit: (item: UserItem) => change((now) => beginEdit(now, item)),
    leaveEdit: () => {
      setError(null);
      change(leaveEdit);
    },
    retry: (item: UserItem) => {
      const wanted = beginEdit(draft, item);
      change(() => wanted);
      sendDraft(wanted);
    },
  };
}

function toMessage({ text, files, replaces }: SendAttempt) {
  return {
    text,
    ...(files.length === 0 ? {} : { attachments: [...files] }),
    ...(replaces === null ? {} : { replaces }),
  };
}
