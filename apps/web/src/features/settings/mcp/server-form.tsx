import { mcpServerName, type ActionDomain, type Risk } from '@vitto/contracts';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Select, TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { KindFields } from './kind-fields.tsx';
import { checkServer, createServer } from './mcp-api.ts';
import { mcpStrings } from './strings.ts';
import { EMPTY_TRANSPORT, fromDraft, type TransportDraft } from './transport-draft.ts';
import { TransportFields } from './transport-fields.tsx';
import { useServerCache } from './use-servers.ts';

export const EMPTY_SERVER = {
  name: '',
  transport: EMPTY_TRANSPORT,
  domain: 'knowledge' as ActionDomain,
  risk: 'write' as Risk,
};

/** A new server. It is asked at once what it offers; nothing of that is used before it is approved. */
export function ServerForm({ isOwner, onClose }: { isOwner: boolean; onClose: () => void }) {
  const words = useFeatureStrings(mcpStrings);
  const common = useFeatureStrings(settingsStrings);
  const draft = useDraft('mcp.add', EMPTY_SERVER);
  const { name, transport, domain, risk } = draft.value;
  const [hasTried, setTried] = useState(false);
  const add = useAdd();
  const isNameGood = mcpServerName.safeParse(name).success;
  const read = fromDraft(transport);
  const change = (part: Partial<typeof EMPTY_SERVER>) => {
    add.forget();
    draft.change({ ...draft.value, ...part });
  };
  const close = () => {
    draft.reset();
    onClose();
  };
  const submit = async () => {
    setTried(true);
    if (!isNameGood || 'bad' in read) return;
    if ((await add.run({ name, transport: read.transport, domain, risk })) !== null) close();
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line-strong p-3"
      onKeyDown={(event) => event.key === 'Escape' && close()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.name}
        description={words.nameHelp}
        error={hasTried && !isNameGood ? words.nameBad : null}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            autoFocus
            value={name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={words.kind} description={isOwner ? undefined : words.stdioOwner}>
        {(control) => (
          <Select
            {...control}
            value={transport.kind}
            onChange={(event) =>
              change({
                transport: { ...transport, kind: event.target.value as TransportDraft['kind'] },
              })
            }
          >
            <option value="http">{words.kinds.http}</option>
            <option value="stdio" disabled={!isOwner}>
              {words.kinds.stdio}
            </option>
          </Select>
        )}
      </Field>
      <TransportFields
        draft={transport}
        isOwner={isOwner}
        bad={hasTried && 'bad' in read ? read.bad : null}
        onChange={(next) => change({ transport: next })}
      />
      <KindFields
        domain={domain}
        risk={risk}
        onDomain={(next) => change({ domain: next })}
        onRisk={(next) => change({ risk: next })}
      />
      <ActionFailure title={common.notSaved} error={add.error} />
      <SaveLine label={words.adding} isBusy={add.isBusy} onCancel={close} />
    </form>
  );
}

function useAdd() {
  const { client } = useVitto();
  const { put } = useServerCache();
  return useAction(async (key, body: Parameters<typeof createServer>[1]) => {
    const made = await createServer(client, body, key);
    put(made);
    // Looking at it is another thing: when that fails, the server is in the list and can be asked again.
    void checkServer(client, made.id, crypto.randomUUID()).then(put, () => undefined);
    return made;
  });
}
