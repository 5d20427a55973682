import type { ModelProvider, ModelTest } from '@vitto/contracts';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { SecretInput, Select, TextInput } from '../../components/inputs.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { modelsStrings } from '../settings/models/strings.ts';
import { recogniseKey } from './recognise-key.ts';
import { setupStrings } from './strings.ts';
import { TryOutcome } from './try-outcome.tsx';
import { useTryModel } from './use-try-model.ts';

interface KeyWayProps {
  providers: readonly ModelProvider[];
  onWorks: (model: string, test: ModelTest) => void;
}

/** A key is enough: whose it is its beginning says, and which model the provider's suggestion. */
export function KeyWay({ providers, onWorks }: KeyWayProps) {
  const words = useFeatureStrings(setupStrings);
  const names = useFeatureStrings(modelsStrings).names;
  const [key, setKey] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [hasTried, setTried] = useState(false);
  const attempt = useTryModel(onWorks);

  const withKey = providers.filter((one) => one.needsKey);
  const recognised = recogniseKey(key);
  const name = chosen ?? recognised;
  const provider = withKey.find((one) => one.name === name);
  const isFixed = provider?.source === 'environment';
  const model = typed ?? provider?.suggestedModel?.replace(`${provider.name}/`, '') ?? '';

  const submit = () => {
    setTried(true);
    if (key === '' || provider === undefined || model === '') return;
    const access = isFixed ? null : { apiKey: key };
    void attempt.start({ provider, access, model: `${provider.name}/${model}` });
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="grid grid-cols-[minmax(0,1fr)] gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Field label={words.key} error={hasTried && key === '' ? words.keyMissing : null}>
        {(control) => (
          <SecretInput
            {...control}
            value={key}
            onChange={(event) => {
              attempt.forget();
              setKey(event.target.value.trim());
            }}
          />
        )}
      </Field>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
        <Field
          label={words.provider}
          description={
            isFixed ? words.fixed : chosen === null && recognised !== null ? words.recognised : undefined
          }
          error={hasTried && key !== '' && provider === undefined ? words.providerMissing : null}
        >
          {(control) => (
            <Select
              {...control}
              value={name ?? ''}
              onChange={(event) => {
                attempt.forget();
                setTyped(null);
                setChosen(event.target.value === '' ? null : event.target.value);
              }}
            >
              <option value="">{words.choose}</option>
              {withKey.map((one) => (
                <option key={one.name} value={one.name}>
                  {names[one.name]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label={words.model}
          description={words.modelHelp}
          error={hasTried && provider !== undefined && model === '' ? words.modelMissing : null}
        >
          {(control) => (
            <TextInput
              {...control}
              isExact
              value={model}
              onChange={(event) => {
                attempt.forget();
                setTyped(event.target.value.trim());
              }}
            />
          )}
        </Field>
      </div>
      <Button
        type="submit"
        look="primary"
        className="min-h-9 justify-self-start"
        aria-disabled={attempt.step !== null}
      >
        {words.test}
      </Button>
      <TryOutcome attempt={attempt} />
    </form>
  );
}
