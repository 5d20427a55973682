import { TOKEN_SCOPES, type TokenScope } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { CheckboxGroup } from '../../../components/checkbox-group.tsx';
import { Field } from '../../../components/field.tsx';
import { Select, TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { tokensStrings } from './strings.ts';
import { createToken, tokensQuery, type CreatedToken } from './tokens-api.ts';

/** As little as most programs need, and not for ever. */
export const EMPTY_TOKEN = { name: '', scopes: ['read', 'run'] as TokenScope[], days: 90 };
const DAYS = [7, 30, 90, 365, 0] as const;

export function TokenForm(props: { onMade: (token: CreatedToken) => void; onClose: () => void }) {
  const words = useFeatureStrings(tokensStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const draft = useDraft('tokens.add', EMPTY_TOKEN);
  const { name, scopes, days } = draft.value;
  const [hasTried, setTried] = useState(false);
  const make = useAction((key) =>
    createToken(client, { name: name.trim(), scopes, ...(days === 0 ? {} : { expiresInDays: days }) }, key),
  );
  const change = (part: Partial<typeof EMPTY_TOKEN>) => {
    make.forget();
    draft.change({ ...draft.value, ...part });
  };
  const close = () => {
    draft.reset();
    props.onClose();
  };
  const submit = async () => {
    setTried(true);
    if (name.trim() === '' || scopes.length === 0) return;
    const made = await make.run();
    if (made === null) return;
    close();
    props.onMade(made);
    await queries.invalidateQueries({ queryKey: tokensQuery(client).queryKey });
  };
  return (
    <form
      noValidate
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
        error={hasTried && name.trim() === '' ? words.noName : null}
      >
        {(control) => (
          <TextInput
            {...control}
            autoFocus
            maxLength={100}
            value={name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <CheckboxGroup
        legend={words.scopes}
        options={TOKEN_SCOPES}
        labels={words.scope}
        chosen={scopes}
        error={hasTried && scopes.length === 0 ? words.noScope : null}
        onChange={(next) => change({ scopes: next })}
      />
      <Field label={words.expiry} className="max-w-56">
        {(control) => (
          <Select
            {...control}
            value={days}
            onChange={(event) => change({ days: Number(event.target.value) })}
          >
            {DAYS.map((count) => (
              <option key={count} value={count}>
                {words.days[count]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ActionFailure title={words.notMade} error={make.error} />
      <SaveLine label={words.make} isBusy={make.isBusy} onCancel={close} />
    </form>
  );
}
