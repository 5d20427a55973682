import type { ArtifactRef } from '@vitto/contracts';
import { useState } from 'react';
import { mayHaveArrived, type ApiError } from '../../api/api-error.ts';

/** What is typed and not sent, and the last try to send it. Kept in the tab's own storage, so a reload keeps it. */
export interface Draft {
  text: string;
  /** Files that are uploaded and not sent. */
  files: readonly ArtifactRef[];
  /** The earlier message that this one stands in for. */
  edit: Edit | null;
  /** Folders that the conversation may read once it has been made. */
  folders: readonly string[];
  attempt: SendAttempt | null;
}

export interface Edit {
  messageId: string;
  /** What was typed before the edit began; it comes back when the edit is left. */
  aside: { text: string; files: readonly ArtifactRef[] };
}

/** A try to send one message. Sent again with the same key, it cannot arrive twice. */
export interface SendAttempt {
  text: string;
  /** Ids of files. */
  files: readonly string[];
  replaces: string | null;
  key: string;
  /** The conversation that was made for it, when it is the first message of one. */
  conversationId: string | null;
  /** What that conversation was made with. */
  folders: readonly string[];
}

export const EMPTY_DRAFT: Draft = { text: '', files: [], edit: null, folders: [], attempt: null };

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
type StoredDraft = Pick<Draft, 'text'> &
  Partial<Omit<Draft, 'attempt'>> & { attempt?: Partial<SendAttempt> | null };

function isStoredDraft(value: unknown): value is StoredDraft {
  return typeof value === 'object' && value !== null && typeof (value as StoredDraft).text === 'string';
}

function toDraft({ attempt = null, ...rest }: StoredDraft): Draft {
  const { text = '', key = crypto.randomUUID(), conversationId = null } = attempt ?? {};
  const { files = [], replaces = null, folders = [] } = attempt ?? {};
  const whole = { text, files, replaces, key, conversationId, folders };
  return { ...EMPTY_DRAFT, ...rest, attempt: attempt === null ? null : whole };
}

export function writeDraft(conversationId: string | null, draft: Draft): void {
  try {
    if (isEmpty(draft)) sessionStorage.removeItem(storageKey(conversationId));
    else sessionStorage.setItem(storageKey(conversationId), JSON.stringify(draft));
  } catch {
    // A full or forbidden storage: the text is still in the page.
  }
}

function isEmpty({ text, files, edit, folders, attempt }: Draft): boolean {
  return text === '' && files.length === 0 && edit === null && folders.length === 0 && attempt === null;
}

/** Changes the newest draft there is: a file may have come in since somebody looked. */
export type ChangeDraft = (change: (draft: Draft) => Draft) => void;

/** The draft of a conversation; `null` is the one that does not exist yet. */
export function useDraft(conversationId: string | null): [Draft, ChangeDraft] {
  const [draft, setDraft] = useState(() => readDraft(conversationId));
  const [newest] = useState(() => ({ current: draft }));
  const change: ChangeDraft = (edit) => {
    newest.current = edit(newest.current);
    writeDraft(conversationId, newest.current);
    setDraft(newest.current);
  };
  return [draft, change];
}

/** Puts an earlier message into the composer; what was typed there is set aside. */
export function beginEdit(
  draft: Draft,
  message: { messageId: string; text: string; attachments: readonly ArtifactRef[] },
): Draft {
  const aside = draft.edit?.aside ?? { text: draft.text, files: draft.files };
  const edit = { messageId: message.messageId, aside };
  return { ...draft, text: message.text, files: message.attachments, edit, attempt: null };
}

export function leaveEdit(draft: Draft): Draft {
  return draft.edit === null ? draft : { ...draft, ...draft.edit.aside, edit: null, attempt: null };
}

/** What is left once the draft has been sent. */
export function afterSending(draft: Draft): Draft {
  return draft.edit === null ? EMPTY_DRAFT : { ...EMPTY_DRAFT, ...draft.edit.aside };
}

/**
 * The attempt for this draft: the one before, when it would ask for the same, else a new one. A conversation that has
 * been made is kept; who sends gives it the folders that have changed since.
 */
export function toAttempt(draft: Draft): SendAttempt {
  const { attempt } = draft;
  const conversationId = attempt?.conversationId ?? null;
  const folders = conversationId !== null && attempt !== null ? attempt.folders : draft.folders;
  const wanted = {
    text: draft.text,
    files: draft.files.map((file) => file.id),
    replaces: draft.edit?.messageId ?? null,
    folders,
  };
  if (attempt !== null && isSameRequest(attempt, wanted)) return attempt;
  return { ...wanted, key: crypto.randomUUID(), conversationId };
}

function isSameRequest(one: SendAttempt, other: Omit<SendAttempt, 'key' | 'conversationId'>): boolean {
  return (
    one.text === other.text &&
    one.replaces === other.replaces &&
    isSameList(one.files, other.files) &&
    isSameList(one.folders, other.folders)
  );
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}

/** A draft after a try that failed: a text that was refused is another request when it is sent again. */
export function afterFailure(draft: Draft, error: ApiError): Draft {
  if (draft.attempt === null || mayHaveArrived(error)) return draft;
  return { ...draft, attempt: { ...draft.attempt, key: crypto.randomUUID() } };
}
