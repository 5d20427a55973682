import type { ModelProvider, ModelTest } from '@vitto/contracts';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { SecretInput, TextInput } from '../../components/inputs.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { isAddress } from '../settings/models/provider-form.tsx';
import { modelsStrings } from '../settings/models/strings.ts';
import { setupStrings } from './strings.ts';
import { TryOutcome } from './try-outcome.tsx';
import { useTryModel } from './use-try-model.ts';

interface UrlWayProps {
  provider: ModelProvider;
  onWorks: (model: string, test: ModelTest) => void;
}

/** A server that speaks as OpenAI does: its address, a model, and a key if it asks for one. */
export function UrlWay({ provider, onWorks }: UrlWayProps) {
  const words = useFeatureStrings(setupStrings);
  const fields = useFeatureStrings(modelsStrings);
  const [address, setAddress] = useState(provider.baseUrl ?? '');
  const [model, setModel] = useState('');
  const [key, setKey] = useState('');
  const [hasTried, setTried] = useState(false);
  const attempt = useTryModel(onWorks);
  const isFixed = provider.source === 'environment';
  const write = (set: (text: string) => void) => (event: { target: { value: string } }) => {
    attempt.forget();
    set(event.target.value.trim());
  };
  const submit = () => {
    setTried(true);
    if (!isAddress(address) || model === '') return;
    const access = isFixed ? null : { baseUrl: address, ...(key === '' ? {} : { apiKey: key }) };
    void attempt.start({ provider, access, model: `compatible/${model}` });
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
      <Field
        label={fields.address}
        description={isFixed ? fields.environmentHelp : fields.addressHelp}
        error={hasTried && !isAddress(address) ? fields.addressBad : null}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            inputMode="url"
            readOnly={isFixed}
            value={address}
            onChange={write(setAddress)}
          />
        )}
      </Field>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
        <Field
          label={words.model}
          description={words.modelHelp}
          error={hasTried && model === '' ? words.modelMissing : null}
        >
          {(control) => <TextInput {...control} isExact value={model} onChange={write(setModel)} />}
        </Field>
        {!isFixed && (
          <Field label={fields.key} description={fields.keyOptional}>
            {(control) => <SecretInput {...control} value={key} onChange={write(setKey)} />}
          </Field>
        )}
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
