import { secretName } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { SecretInput, TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { putSecret, secretsQuery } from './secrets-api.ts';
import { secretsStrings } from './strings.ts';

export const EMPTY_SECRET = { name: '', value: '' };

/** A new secret: its name and its value, which is not kept here once the server has it. */
export function SecretForm({ known, onClose }: { known: readonly string[]; onClose: () => void }) {
  const words = useFeatureStrings(secretsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const draft = useDraft('secrets.add', EMPTY_SECRET);
  const { name, value } = draft.value;
  const [hasTried, setTried] = useState(false);
  const save = useAction((_key) => putSecret(client, name, value));
  const isNameGood = secretName.safeParse(name).success;

  const submit = async () => {
    setTried(true);
    if (!isNameGood || value === '') return;
    if ((await save.run()) === null) return;
    draft.reset();
    onClose();
    await queries.invalidateQueries({ queryKey: secretsQuery(client).queryKey });
  };
  const cancel = () => {
    draft.reset();
    onClose();
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line-strong p-3"
      onKeyDown={(event) => event.key === 'Escape' && cancel()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.name}
        description={known.includes(name) ? words.known : words.nameHelp}
        error={hasTried && !isNameGood ? words.badName : null}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            autoFocus
            value={name}
            onChange={(event) => draft.change({ name: event.target.value.trim(), value })}
          />
        )}
      </Field>
      <Field
        label={words.value}
        description={words.valueHelp}
        error={hasTried && value === '' ? words.noValue : null}
      >
        {(control) => (
          <SecretInput
            {...control}
            value={value}
            onChange={(event) => draft.change({ name, value: event.target.value })}
          />
        )}
      </Field>
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine label={common.save} isBusy={save.isBusy} onCancel={cancel} />
    </form>
  );
}
