import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../api/api-error.ts';
import { CONVERSATIONS_KEY, conversationQuery } from '../api/queries.ts';
import { useVitto } from '../api/vitto-context.tsx';

/** Renames and deletes a conversation; each gives whether it was done. Who looks at one that goes is taken away from it. */
export function useChangeConversation(id: string) {
  const { api } = useVitto();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isOpen = useLocation({ select: (location) => location.pathname === `/vitto/c/${id}` });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isSent = useRef(false);

  const run = async (act: () => Promise<void>): Promise<boolean> => {
    if (isSent.current) return false;
    isSent.current = true;
    setBusy(true);
    setError(null);
    try {
      await act();
      await queries.invalidateQueries({ queryKey: CONVERSATIONS_KEY });
      return true;
    } catch (failure) {
      setError(toApiError(failure));
      return false;
    } finally {
      isSent.current = false;
      setBusy(false);
    }
  };
  const rename = (title: string) =>
    run(async () => {
      const changed = await api.renameConversation(id, title);
      queries.setQueryData(conversationQuery(api, id).queryKey, changed);
    });
  const remove = () =>
    run(async () => {
      await api.deleteConversation(id);
      if (isOpen) await navigate({ to: '/vitto' });
      queries.removeQueries({ queryKey: conversationQuery(api, id).queryKey });
    });
  return { rename, remove, isBusy, error };
}
