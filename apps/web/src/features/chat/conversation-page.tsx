import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { conversationQuery } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { Strings } from '../../i18n/strings.en.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { ConversationStore, type ConversationState } from './conversation-store.ts';
import { useConversationFolders } from './folders/use-conversation-folders.ts';
import { findActiveTask } from './model/active-task.ts';
import type { ConversationView } from './model/view.ts';
import { PageHeader } from './page-header.tsx';
import { RunningLine } from './running-line.tsx';
import { Thread } from './thread.tsx';
import { useSend } from './use-send.ts';

/** One conversation: what was said and done, what runs now, and where to write. */
export function ConversationPage({ id }: { id: string }) {
  const strings = useStrings();
  const { api } = useVitto();
  const store = useConversationStore(id);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const conversation = useQuery(conversationQuery(api, id));
  const { draft, setText, send, answer, isSending, error } = useSend(id);
  const active = findActiveTask(state.view);
  const folders = useConversationFolders(id, active !== null);

  if (state.status === 'error' && state.error?.status === 404) return <MissingConversation />;
  const title = conversation.data?.title ?? '';
  return (
    <main id="content" className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title={title === '' ? strings.app.untitled : title}
        isScripted={hasScriptedTask(state.view)}
      />
      <Announcer view={state.view} />
      <Body state={state} store={store} onAnswer={answer} />
      {active !== null && <RunningLine key={active.id} view={state.view} task={active} />}
      <Composer
        text={draft.text}
        onText={setText}
        onSend={send}
        isSending={isSending}
        error={error}
        placeholder={choosePlaceholder(state.view, strings)}
        folders={folders}
      />
    </main>
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

function Body(props: {
  state: ConversationState;
  store: ConversationStore;
  onAnswer: (callId: string, text: string) => Promise<ApiError | null>;
}) {
  const strings = useStrings();
  const { state, store } = props;
  if (state.status === 'ready') {
    return (
      <Thread view={state.view} older={state.older} onOlder={store.loadOlder} onAnswer={props.onAnswer} />
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
