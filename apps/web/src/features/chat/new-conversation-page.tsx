import { useNavigate } from '@tanstack/react-router';
import { useStrings } from '../../i18n/strings-context.tsx';
import { SetupGate } from '../setup/setup-gate.tsx';
import { DropArea } from './attachments/drop-area.tsx';
import { useUploads } from './attachments/use-uploads.ts';
import { Composer } from './composer.tsx';
import { isFolderRefusal, type FolderAccess } from './folders/folder-access.ts';
import { PageHeader } from './page-header.tsx';
import { useSend } from './use-send.ts';

/** The empty chat: what Vitto is for, and the first message, which makes the conversation. */
export function NewConversationPage() {
  const strings = useStrings();
  const navigate = useNavigate();
  // The stream begins with the first history: it does not tell of what came before.
  const sending = useSend(null, (conversationId) => {
    void navigate({ to: '/vitto/c/$conversationId', params: { conversationId } });
  });
  const { draft, change, error } = sending;
  const uploads = useUploads(draft.files, change);
  const folders: FolderAccess = {
    folders: draft.folders,
    isChanging: false,
    error: isFolderRefusal(error) ? error : null,
    errorTitle: strings.composer.failed,
    isTaskRunning: false,
    change: (edit) => {
      sending.forgetError();
      change((now) => ({ ...now, folders: edit(now.folders) }));
      return Promise.resolve(true);
    },
  };

  return (
    <DropArea onFiles={uploads.add}>
      <PageHeader title={strings.app.newChat} isTitleHidden />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid min-h-full w-full max-w-3xl content-center gap-6 px-4 py-8">
          <SetupGate>
            <Welcome onExample={(text) => change((now) => ({ ...now, text }))} />
          </SetupGate>
        </div>
      </div>
      <Composer
        sending={sending}
        uploads={uploads}
        placeholder={strings.composer.placeholder}
        folders={folders}
      />
    </DropArea>
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
