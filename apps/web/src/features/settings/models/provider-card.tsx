import type { ModelProvider, ModelSetup } from '@vitto/contracts';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Card, StateWord } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { removeProvider } from './models-api.ts';
import { ProviderForm } from './provider-form.tsx';
import { modelsStrings } from './strings.ts';
import { useProviderRefresh } from './use-provider-refresh.ts';

interface ProviderCardProps {
  provider: ModelProvider;
  ollama: ModelSetup['ollama'];
  mayChange: boolean;
}

/** A provider: whether it is set up and where, and a way to change it for who may. */
export function ProviderCard({ provider, ollama, mayChange }: ProviderCardProps) {
  const words = useFeatureStrings(modelsStrings);
  const { client } = useVitto();
  const refresh = useProviderRefresh();
  const [isOpen, setOpen] = useState(false);
  const remove = useAction(async () => {
    await removeProvider(client, provider.name);
    await refresh();
  });
  const name = words.names[provider.name];
  const isSetHere = provider.source === 'app';
  const isFixed = provider.source === 'environment';
  return (
    <Card label={name}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        <span className="flex-1">
          <ProviderState provider={provider} ollama={ollama} />
        </span>
        {mayChange && !isFixed && (
          <Button
            aria-label={isSetHere ? words.changeName(name) : words.setUpName(name)}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isSetHere ? words.change : words.setUp}
          </Button>
        )}
        {mayChange && isSetHere && (
          <ConfirmInPlace
            label={words.removeProvider}
            name={words.removeProviderName(name)}
            question={words.removeQuestion}
            isBusy={remove.isBusy}
            onConfirm={() => void remove.run()}
          />
        )}
      </div>
      {provider.baseUrl !== null && <p className="mono text-muted break-all">{provider.baseUrl}</p>}
      {isFixed && <p className="text-muted">{words.environmentHelp}</p>}
      {isOpen && <ProviderForm provider={provider} onClose={() => setOpen(false)} />}
      <ActionFailure title={words.notRemoved} error={remove.error} />
    </Card>
  );
}

function ProviderState({ provider, ollama }: Omit<ProviderCardProps, 'mayChange'>) {
  const words = useFeatureStrings(modelsStrings);
  if (provider.source === 'environment') return <StateWord tone="good">{words.fromEnvironment}</StateWord>;
  if (provider.source === 'app') return <StateWord tone="good">{words.fromApp}</StateWord>;
  if (ollama !== null) return <StateWord tone="good">{words.found(ollama.models.length)}</StateWord>;
  return <StateWord tone="quiet">{words.notSet}</StateWord>;
}
