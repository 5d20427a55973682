import { TOKEN_SCOPES, type TokenScope } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Checkbox, Select, TextInput } from '../../../components/inputs.tsx';
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
      <Scopes
        chosen={scopes}
        isMissing={hasTried && scopes.length === 0}
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

function Scopes(props: {
  chosen: readonly TokenScope[];
  isMissing: boolean;
  onChange: (next: TokenScope[]) => void;
}) {
  const words = useFeatureStrings(tokensStrings);
  const errorId = useId();
  return (
    <fieldset aria-describedby={props.isMissing ? errorId : undefined}>
      <legend className="font-medium">{words.scopes}</legend>
      <div className="grid grid-cols-[minmax(0,1fr)] sm:grid-cols-2 sm:gap-x-4">
        {TOKEN_SCOPES.map((scope) => (
          <Checkbox
            key={scope}
            label={words.scope[scope].label}
            description={words.scope[scope].text}
            checked={props.chosen.includes(scope)}
            onChange={(event) =>
              props.onChange(
                TOKEN_SCOPES.filter((one) =>
                  one === scope ? event.target.checked : props.chosen.includes(one),
                ),
              )
            }
          />
        ))}
      </div>
      {props.isMissing && (
        <p id={errorId} role="alert" className="text-red">
          {words.noScope}
        </p>
      )}
    </fieldset>
  );
}
