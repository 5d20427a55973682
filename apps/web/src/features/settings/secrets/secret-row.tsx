import type { Secret } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Field } from '../../../components/field.tsx';
import { Icon } from '../../../components/icon.tsx';
import { SecretInput } from '../../../components/inputs.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Card, LastUsed, SaveLine } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { deleteSecret, putSecret, secretsQuery } from './secrets-api.ts';
import { secretsStrings } from './strings.ts';

export function SecretRow({ secret }: { secret: Secret }) {
  const words = useFeatureStrings(secretsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: secretsQuery(client).queryKey });
  const [isReplacing, setReplacing] = useState(false);
  const [isReplaced, setReplaced] = useState(false);
  const remove = useAction(async () => {
    await deleteSecret(client, secret.name);
    await refresh();
  });
  return (
    <Card label={secret.name}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <code className="mono min-w-0 flex-1 font-medium break-all">{secret.name}</code>
        <Button
          aria-label={words.replaceName(secret.name)}
          aria-expanded={isReplacing}
          onClick={() => setReplacing(!isReplacing)}
        >
          {words.replace}
        </Button>
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(secret.name)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <p className="text-muted">
        {words.updated} <Moment at={secret.updatedAt} /> · <LastUsed at={secret.lastUsedAt} />
        <span role="status" className="ms-2 inline-flex items-center gap-1 text-green">
          {isReplaced && (
            <>
              <Icon name="check" /> {common.saved}
            </>
          )}
        </span>
      </p>
      {isReplacing && (
        <ReplaceForm
          name={secret.name}
          onClose={(isDone) => {
            setReplacing(false);
            setReplaced(isDone);
            if (isDone) void refresh();
          }}
        />
      )}
      <ActionFailure title={words.notDeleted} error={remove.error} />
    </Card>
  );
}

function ReplaceForm({ name, onClose }: { name: string; onClose: (isDone: boolean) => void }) {
  const words = useFeatureStrings(secretsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const [value, setValue] = useState('');
  const save = useAction((_key) => putSecret(client, name, value));
  return (
    <form
      noValidate
      autoComplete="off"
      className="grid grid-cols-[minmax(0,1fr)] gap-3"
      onKeyDown={(event) => event.key === 'Escape' && onClose(false)}
      onSubmit={(event) => {
        event.preventDefault();
        if (value !== '') void save.run().then((done) => done !== null && onClose(true));
      }}
    >
      <Field label={words.newValue(name)}>
        {(control) => (
          <SecretInput
            {...control}
            autoFocus
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine label={common.save} isBusy={save.isBusy} onCancel={() => onClose(false)} />
    </form>
  );
}
