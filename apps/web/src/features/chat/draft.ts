import { useState } from 'react';
import { mayHaveArrived, type ApiError } from '../../api/api-error.ts';

/** What is typed and not sent, and the last try to send it. Kept in the tab's own storage, so a reload keeps it. */
export interface Draft {
  text: string;
  /** Folders that the conversation may read once it has been made. */
  folders: readonly string[];
  attempt: SendAttempt | null;
}

/** A try to send one text. Sent again with the same key, it cannot arrive twice. */
export interface SendAttempt {
  text: string;
  key: string;
  /** The conversation that was made for it, when it is the first message of one. */
  conversationId: string | null;
  /** What that conversation was made with. */
  folders: readonly string[];
}

export const EMPTY_DRAFT: Draft = { text: '', folders: [], attempt: null };

function storageKey(conversationId: string | null): string {
  return `vitto.draft.${conversationId ?? 'new'}`;
}

export function readDraft(conversationId: string | null): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey(conversationId)) ?? 'null');
    return isStoredDraft(stored) ? toDraft(stored) : EMPTY_DRAFT;
  } catch {
    return EMPTY_DRAFT;
  }
}

/** As an older page may have left it. */
interface StoredDraft {
  text: string;
  folders?: readonly string[];
  attempt?: (Omit<SendAttempt, 'folders'> & { folders?: readonly string[] }) | null;
}

function isStoredDraft(value: unknown): value is StoredDraft {
  return typeof value === 'object' && value !== null && typeof (value as StoredDraft).text === 'string';
}

function toDraft({ text, folders = [], attempt = null }: StoredDraft): Draft {
  return { text, folders, attempt: attempt === null ? null : { folders: [], ...attempt } };
}

export function writeDraft(conversationId: string | null, draft: Draft): void {
  try {
    if (draft.text === '' && draft.folders.length === 0 && draft.attempt === null)
      sessionStorage.removeItem(storageKey(conversationId));
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

/**
 * The attempt for this draft: the one before, when it would ask for the same, else a new one. A conversation that has
 * been made is kept; who sends gives it the folders that have changed since.
 */
export function toAttempt(draft: Draft): SendAttempt {
  const { text, folders, attempt } = draft;
  const conversationId = attempt?.conversationId ?? null;
  const made = conversationId !== null && attempt !== null ? attempt.folders : folders;
  if (attempt !== null && attempt.text === text && isSameList(attempt.folders, made)) return attempt;
  return { text, key: crypto.randomUUID(), conversationId, folders: made };
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}

/** A draft after a try that failed: a text that was refused is another request when it is sent again. */
export function afterFailure(draft: Draft, error: ApiError): Draft {
  if (draft.attempt === null || mayHaveArrived(error)) return draft;
  return { ...draft, attempt: { ...draft.attempt, key: crypto.randomUUID() } };
}
