import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { conversationQuery } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { ArtifactOpener } from '../../components/artifact-opener.ts';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { Strings } from '../../i18n/strings.en.ts';
import { Announcer } from './announcer.tsx';
import { DropArea } from './attachments/drop-area.tsx';
import { useUploads } from './attachments/use-uploads.ts';
import { Composer } from './composer.tsx';
import { ConversationStore, type ConversationState } from './conversation-store.ts';
import { useConversationFolders } from './folders/use-conversation-folders.ts';
import { findActiveTask } from './model/active-task.ts';
import type { ConversationView, QuestionItem, UserItem } from './model/view.ts';
import { PageHeader } from './page-header.tsx';
import { RunningLine } from './running-line.tsx';
import { SideFile } from './side-file.tsx';
import { ThreadActionsContext, type ThreadActions } from './thread-actions.ts';
import { Thread } from './thread.tsx';
import { useAnswer } from './use-answer.ts';
import { useSend } from './use-send.ts';

/** What an address of a conversation may name besides it. */
export interface ConversationPlace {
  /** A position of the journal. */
  at?: number;
  /** The id of a file that is open. */
  artifact?: string;
}

/** One conversation: what was said and done, what runs now, and where to write. */
export function ConversationPage({ id, place }: { id: string; place: ConversationPlace }) {
  const strings = useStrings();
  const { api } = useVitto();
  const store = useConversationStore(id);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const conversation = useQuery(conversationQuery(api, id));
  const sending = useSend(id);
  const uploads = useUploads(sending.draft.files, sending.change);
  const active = findActiveTask(state.view);
  const folders = useConversationFolders(id, active !== null);
  const openFile = useOpenFile(id);
  const actions = useActions(id, sending, active !== null);

  if (state.status === 'error' && state.error?.status === 404) return <MissingConversation />;
  const title = conversation.data?.title ?? '';
  return (
    <SideFile id={place.artifact ?? null} onClose={() => openFile(null)}>
      <DropArea onFiles={uploads.add}>
        <PageHeader
          title={title === '' ? strings.app.untitled : title}
          isScripted={hasScriptedTask(state.view)}
        />
        <Announcer view={state.view} />
        <ThreadActionsContext value={actions}>
          <ArtifactOpener value={openFile}>
            <Body state={state} store={store} at={place.at ?? null} />
          </ArtifactOpener>
        </ThreadActionsContext>
        {active !== null && <RunningLine key={active.id} view={state.view} task={active} />}
        <Composer
          sending={sending}
          uploads={uploads}
          placeholder={choosePlaceholder(state.view, strings)}
          folders={folders}
        />
      </DropArea>
    </SideFile>
  );
}

/** Opens a file by the address, so that it can be linked to and left with Back. */
function useOpenFile(conversationId: string): (artifact: string | null) => void {
  const navigate = useNavigate();
  return useCallback(
    (artifact) =>
      void navigate({
        to: '/vitto/c/$conversationId',
        params: { conversationId },
        search: artifact === null ? {} : { artifact },
        replace: artifact === null,
      }),
    [navigate, conversationId],
  );
}

/** The same functions all along, so that no row is drawn again because of them. */
function useActions(id: string, sending: ReturnType<typeof useSend>, isRunning: boolean): ThreadActions {
  const answer = useAnswer(id);
  const newest = useRef({ answer, sending });
  useEffect(() => {
    newest.current = { answer, sending };
  });
  const whyNotEdit = isRunning ? 'running' : sending.isSending ? 'sending' : null;
  return useMemo(
    () => ({
      answer: (question: QuestionItem, text: string) => newest.current.answer(question, text),
      edit: (item: UserItem) => newest.current.sending.edit(item),
      retry: (item: UserItem) => newest.current.sending.retry(item),
      whyNotEdit,
    }),
    [whyNotEdit],
  );
}

function hasScriptedTask(view: ConversationView): boolean {
  return [...view.tasks.values()].some((task) => task.isScripted);
}

function choosePlaceholder(view: ConversationView, strings: Strings): string {
  const active = findActiveTask(view);
  if (active === null) return strings.composer.placeholder;
  if (active.state === 'waiting_input') return strings.composer.placeholderAnswer;
  if (active.state === 'waiting_approval') return strings.composer.placeholderApproval;
  return strings.composer.placeholderSteer;
}

function Body({
  state,
  store,
  at,
}: {
  state: ConversationState;
  store: ConversationStore;
  at: number | null;
}) {
  const strings = useStrings();
  if (state.status === 'ready') {
    return (
      <Thread view={state.view} older={state.older} onOlder={store.loadOlder} onReach={store.reach} at={at} />
    );
  }
  return (
    <div className="mx-auto w-full max-w-3xl flex-1 p-4" aria-busy={state.status === 'loading'}>
      {state.status === 'loading' ? (
        <Skeleton />
      ) : (
        <FailureNote title={strings.thread.failed} error={state.error}>
          <Button onClick={() => void store.load()}>{strings.app.retry}</Button>
        </FailureNote>
      )}
    </div>
  );
}

/** The store of an open conversation; it loads again when a session that had ended is back. */
function useConversationStore(id: string): ConversationStore {
  const { api, stream } = useVitto();
  const [store] = useState(() => new ConversationStore(id, api, stream));
  const isSignedIn = useSession().data != null;
  useEffect(() => store.open(), [store]);
  useEffect(() => {
    if (isSignedIn) store.recover();
  }, [store, isSignedIn]);
  return store;
}

function MissingConversation() {
  const strings = useStrings();
  return (
    <main id="content" className="flex min-h-0 flex-1 flex-col">
      <PageHeader title={strings.thread.missing} />
      <p className="mx-auto w-full max-w-3xl p-4 text-muted">{strings.thread.missingHint}</p>
    </main>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-4 pt-4" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="ms-auto h-10 w-56 rounded-xl bg-sunken" />
      <span className="h-4 w-full rounded-sm bg-sunken" />
      <span className="h-4 w-4/5 rounded-sm bg-sunken" />
      <span className="h-9 w-full rounded-lg bg-sunken" />
      <span className="h-4 w-3/5 rounded-sm bg-sunken" />
    </div>
  );
}
