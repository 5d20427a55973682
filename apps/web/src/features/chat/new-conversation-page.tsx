import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { CONVERSATIONS_KEY, systemQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { Composer } from './composer.tsx';
import {
  afterFailure,
  EMPTY_DRAFT,
  isSameList,
  readDraft,
  toAttempt,
  useDraft,
  type Draft,
} from './draft.ts';
import { isFolderRefusal, type FolderAccess } from './folders/folder-access.ts';
import { findModelTrouble, ModelSetup } from './model-setup.tsx';
import { PageHeader } from './page-header.tsx';

/** The empty chat: what Vitto is for, and the first message, which makes the conversation. */
export function NewConversationPage() {
  const strings = useStrings();
  const { api } = useVitto();
  const [draft, setDraft] = useDraft(null);
  const { send, isSending, error, forgetError } = useFirstMessage(draft, setDraft);
  const folders: FolderAccess = {
    folders: draft.folders,
    isChanging: false,
    error: isFolderRefusal(error) ? error : null,
    errorTitle: strings.composer.failed,
    isTaskRunning: false,
    change: (edit) => {
      forgetError();
      setDraft({ ...draft, folders: edit(draft.folders) });
      return Promise.resolve(true);
    },
  };
  const system = useQuery(systemQuery(api));
  const trouble = system.data === undefined ? null : findModelTrouble(system.data);

  return (
    <main id="content" className="flex min-h-0 flex-1 flex-col">
      <PageHeader title={strings.app.newChat} isTitleHidden />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid min-h-full w-full max-w-3xl content-center gap-6 px-4 py-8">
          {trouble === null ? (
            <Welcome onExample={(text) => setDraft({ ...draft, text })} />
          ) : (
            <ModelSetup
              trouble={trouble}
              onCheck={() => void system.refetch()}
              isChecking={system.isFetching}
            />
          )}
        </div>
      </div>
      <Composer
        text={draft.text}
        onText={(text) => setDraft({ ...draft, text })}
        onSend={send}
        isSending={isSending}
        error={isFolderRefusal(error) ? null : error}
        placeholder={strings.composer.placeholder}
        folders={folders}
      />
    </main>
  );
}

function Welcome({ onExample }: { onExample: (text: string) => void }) {
  const strings = useStrings();
  return (
    <>
      <div>
        <h2 className="text-2xl font-semibold tracking-tight">{strings.empty.title}</h2>
        <p className="mt-1 max-w-prose text-base text-muted">{strings.empty.text}</p>
      </div>
      <ul className="grid gap-2 sm:grid-cols-3">
        {strings.empty.examples.map((example) => (
          <li key={example}>
            <button
              type="button"
              className="h-full w-full rounded-lg border border-line bg-surface p-3 text-start hover:border-line-strong"
              onClick={() => onExample(example)}
            >
              {example}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function useFirstMessage(draft: Draft, setDraft: (draft: Draft) => void) {
  const { api } = useVitto();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isBusy = useRef(false);

  const deliver = async () => {
    let attempt = toAttempt(draft);
    setDraft({ ...draft, attempt });
    if (attempt.conversationId === null) {
      const made = await api.createConversation(attempt.folders, `${attempt.key}-conversation`);
      attempt = { ...attempt, conversationId: made.id };
      setDraft({ ...draft, attempt });
    } else if (!isSameList(attempt.folders, draft.folders)) {
      await api.allowPaths(attempt.conversationId, draft.folders);
      attempt = { ...attempt, folders: draft.folders };
      setDraft({ ...draft, attempt });
    }
    const conversationId = attempt.conversationId ?? '';
    await api.sendMessage(conversationId, { text: attempt.text }, attempt.key);
    setDraft(EMPTY_DRAFT);
    // The stream begins with the first history: it does not tell of what came before.
    void queries.invalidateQueries({ queryKey: CONVERSATIONS_KEY });
    await navigate({ to: '/vitto/c/$conversationId', params: { conversationId } });
  };
  const send = () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setError(null);
    void deliver()
      .catch((failure: unknown) => {
        const problem = toApiError(failure);
        setDraft(afterFailure(readDraft(null), problem));
        setError(problem);
      })
      .finally(() => {
        isBusy.current = false;
        setSending(false);
      });
  };
  return { send, isSending, error, forgetError: () => setError(null) };
}
