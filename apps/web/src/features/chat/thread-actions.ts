import { createContext, use } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { QuestionItem, UserItem } from './model/view.ts';

/** What can be done from within the thread. */
export interface ThreadActions {
  answer: (question: QuestionItem, text: string) => Promise<ApiError | null>;
  /** Puts the message into the composer, to be sent in its place. */
  edit: (item: UserItem) => void;
  /** Sends the message again as it is, in its place. */
  retry: (item: UserItem) => void;
  /** Why a message cannot be edited now; `null` when it can. */
  whyNotEdit: 'running' | 'sending' | null;
}

export const ThreadActionsContext = createContext<ThreadActions | null>(null);

export function useThreadActions(): ThreadActions {
  const actions = use(ThreadActionsContext);
  if (actions === null) throw new Error('ThreadActionsContext is missing');
  return actions;
}
