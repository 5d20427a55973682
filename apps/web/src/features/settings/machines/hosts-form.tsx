import { hostPattern, type NetworkPolicy } from '@vitto/contracts';
import { useState } from 'react';
import { Field } from '../../../components/field.tsx';
import { TextArea } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { machinesStrings } from './strings.ts';

/** Hosts beside the registries, one a line. */
export function HostsForm({ network }: { network: NetworkPolicy }) {
  const words = useFeatureStrings(machinesStrings);
  const common = useFeatureStrings(settingsStrings);
  const draft = useDraft('machines.hosts', network.hosts.join('\n'));
  const lines = draft.value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const bad = lines.find((line) => !hostPattern.safeParse(line).success);
  const [hasTried, setTried] = useState(false);
  const change = useSettingsChange();
  const save = useAction((_key) => change({ network: { ...network, hosts: lines } }));
  const submit = async () => {
    setTried(true);
    if (bad === undefined && (await save.run()) !== null) draft.reset();
  };
  return (
    <form
      noValidate
      className="grid max-w-md grid-cols-[minmax(0,1fr)] gap-3"
      onKeyDown={(event) => event.key === 'Escape' && draft.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.hosts}
        description={words.hostsHelp}
        error={hasTried && bad !== undefined ? words.badHost(bad) : null}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={4}
            className="mono"
            spellCheck={false}
            autoCapitalize="off"
            value={draft.value}
            onChange={(event) => {
              setTried(false);
              save.forget();
              draft.change(event.target.value);
            }}
          />
        )}
      </Field>
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
