import type { ModelProvider } from '@vitto/contracts';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { SecretInput, TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, fieldError, SaveLine } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { setProvider } from './models-api.ts';
import { modelsStrings } from './strings.ts';
import { useProviderRefresh } from './use-provider-refresh.ts';

/** The key and, where it is not the provider's own, the address. A stored key stays unless another one is given. */
export function ProviderForm({ provider, onClose }: { provider: ModelProvider; onClose: () => void }) {
  const words = useFeatureStrings(modelsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const refresh = useProviderRefresh();
  const hasAddress = provider.name === 'compatible' || provider.name === 'ollama';
  const draft = useDraft(`models.${provider.name}`, { key: '', address: provider.baseUrl ?? '' });
  const { key, address } = draft.value;
  const [hasTried, setTried] = useState(false);
  const faults = findFaults(provider, key, address, hasAddress);
  const save = useAction(async () => {
    await setProvider(client, provider.name, {
      ...(key === '' ? {} : { apiKey: key }),
      ...(hasAddress ? { baseUrl: address } : {}),
    });
    await refresh();
  });
  const close = () => {
    draft.reset();
    onClose();
  };
  const submit = async () => {
    setTried(true);
    if (faults.key || faults.address) return;
    if ((await save.run()) !== null) close();
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-3"
      onKeyDown={(event) => event.key === 'Escape' && close()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {hasAddress && (
        <Field
          label={words.address}
          description={provider.name === 'ollama' ? words.addressHelpOllama : words.addressHelp}
          error={hasTried && faults.address ? words.addressBad : fieldError(save.error, 'baseUrl')}
        >
          {(control) => (
            <TextInput
              {...control}
              isExact
              inputMode="url"
              value={address}
              onChange={(event) => draft.change({ key, address: event.target.value.trim() })}
            />
          )}
        </Field>
      )}
      {provider.name !== 'ollama' && (
        <Field
          label={provider.hasKey ? words.keyNew : words.key}
          description={
            provider.hasKey ? words.keyKeep : provider.needsKey ? words.keyHelp : words.keyOptional
          }
          error={hasTried && faults.key ? words.keyMissing : fieldError(save.error, 'apiKey')}
        >
          {(control) => (
            <SecretInput
              {...control}
              value={key}
              onChange={(event) => draft.change({ key: event.target.value.trim(), address })}
            />
          )}
        </Field>
      )}
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine label={common.save} isBusy={save.isBusy} onCancel={close} />
    </form>
  );
}

function findFaults(provider: ModelProvider, key: string, address: string, hasAddress: boolean) {
  return {
    key: provider.needsKey && key === '' && !provider.hasKey,
    address: hasAddress && !isAddress(address),
  };
}

export function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/u.test(text) && URL.canParse(text);
}
