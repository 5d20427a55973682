import type { McpServer } from '@vitto/contracts';
import { useState } from 'react';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { changeServer } from './mcp-api.ts';
import { fromDraft, toDraft } from './transport-draft.ts';
import { TransportFields } from './transport-fields.tsx';
import { useServerCache } from './use-servers.ts';

/** Another address, other arguments: what is reached then may offer something else, which is asked about again. */
export function TransportForm({ server, isOwner }: { server: McpServer; isOwner: boolean }) {
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const { put } = useServerCache();
  const draft = useDraft(`mcp.${server.id}`, toDraft(server.transport));
  const [bad, setBad] = useState<'url' | 'command' | null>(null);
  const save = useAction(async (_key, transport: McpServer['transport']) =>
    put(await changeServer(client, server.id, { transport })),
  );
  const submit = async () => {
    const read = fromDraft(draft.value);
    if ('bad' in read) return setBad(read.bad);
    if ((await save.run(read.transport)) !== null) draft.reset();
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="grid grid-cols-[minmax(0,1fr)] gap-3 py-1"
      onKeyDown={(event) => event.key === 'Escape' && draft.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TransportFields
        draft={draft.value}
        isOwner={isOwner}
        bad={bad}
        onChange={(next) => {
          setBad(null);
          save.forget();
          draft.change(next);
        }}
      />
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine
        label={common.save}
        isBusy={save.isBusy}
        isDone={save.isDone}
        isChanged={draft.isChanged}
        onCancel={draft.isChanged ? draft.reset : undefined}
      />
    </form>
  );
}
