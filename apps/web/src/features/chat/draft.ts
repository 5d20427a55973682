import { useState } from 'react';
import { mayHaveArrived, type ApiError } from '../../api/api-error.ts';

/** What is typed and not sent, and the last try to send it. Kept in the tab's own storage, so a reload keeps it. */
export interface Draft {
  text: string;
  attempt: SendAttempt | null;
}

/** A try to send one text. Sent again with the same key, it cannot arrive twice. */
export interface SendAttempt {
  text: string;
  key: string;
  /** The conversation that was made for it, when it is the first message of one. */
  conversationId: string | null;
}

const EMPTY: Draft = { text: '', attempt: null };

function storageKey(conversationId: string | null): string {
  return `vitto.draft.${conversationId ?? 'new'}`;
}

export function readDraft(conversationId: string | null): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey(conversationId)) ?? 'null');
    return isDraft(stored) ? stored : EMPTY;
  } catch {
    return EMPTY;
  }
}

function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && typeof (value as Draft).text === 'string';
}

export function writeDraft(conversationId: string | null, draft: Draft): void {
  try {
    if (draft.text === '' && draft.attempt === null) sessionStorage.removeItem(storageKey(conversationId));
    else sessionStorage.setItem(storageKey(conversationId), JSON.stringify(draft));
  } catch {
    // A full or forbidden storage: the text is still in the page.
  }
}

/** The draft of a conversation; `null` is the one that does not exist yet. */
export function useDraft(conversationId: string | null): [Draft, (draft: Draft) => void] {
  const [draft, setDraft] = useState(() => readDraft(conversationId));
  return [
    draft,
    (next) => {
      writeDraft(conversationId, next);
      setDraft(next);
    },
  ];
}

/** The attempt for this text: the one before, when it was for the same text, else a new one. */
export function toAttempt(draft: Draft): SendAttempt {
  if (draft.attempt !== null && draft.attempt.text === draft.text) return draft.attempt;
  return {
    text: draft.text,
    key: crypto.randomUUID(),
    conversationId: draft.attempt?.conversationId ?? null,
  };
}

/** A draft after a try that failed: a text that was refused is another request when it is sent again. */
export function afterFailure(draft: Draft, error: ApiError): Draft {
  if (draft.attempt === null || mayHaveArrived(error)) return draft;
  return { ...draft, attempt: { ...draft.attempt, key: crypto.randomUUID() } };
}
