import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../../api/api-error.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import type { ApprovalItem } from '../model/view.ts';

/**
 * Decides an approval once. The card shows the outcome as soon as the server has it, whichever comes first: the
 * answer or the event. When somebody else was faster, the server says who won.
 */
export function useDecision(item: ApprovalItem) {
  const { api } = useVitto();
  const [own, setOwn] = useState<ApprovalItem['decision']>(null);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isBusy = useRef(false);

  const send = async (decision: 'approved' | 'refused', note: string): Promise<void> => {
    const trimmed = note.trim();
    await api.decideApproval(
      item.approvalId,
      { decision, argumentsHash: item.argumentsHash, ...(trimmed === '' ? {} : { note: trimmed }) },
      crypto.randomUUID(),
    );
    setOwn({ decision, by: 'web', ...(trimmed === '' ? {} : { note: trimmed }) });
  };
  const decide = (decision: 'approved' | 'refused', note = ''): void => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setError(null);
    void send(decision, note)
      .catch((failure: unknown) => setError(toApiError(failure)))
      .finally(() => {
        isBusy.current = false;
        setSending(false);
      });
  };
  return { decide, decision: item.decision ?? own, isSending, error };
}
