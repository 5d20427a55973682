import type { ModelProvider, ModelTest, SetModelProvider } from '@vitto/contracts';
import { useState } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { setProvider, testModel } from '../settings/models/models-api.ts';
import { useProviderRefresh } from '../settings/models/use-provider-refresh.ts';
import { useAction } from '../settings/use-action.ts';

/** What is tried: the access to a provider, unless it is there already, and a model of it. */
export interface Candidate {
  provider: ModelProvider | undefined;
  access: SetModelProvider | null;
  /** As `provider/model`. */
  model: string;
}

/** Asks the model with the access that was entered, and stores that only when the model has answered. */
export function useTryModel(onWorks: (model: string, test: ModelTest) => void) {
  const { client } = useVitto();
  const refresh = useProviderRefresh();
  const [step, setStep] = useState<'asking' | 'storing' | null>(null);
  const [failed, setFailed] = useState<ModelTest | null>(null);

  const attempt = useAction(async (key, { provider, access, model }: Candidate) => {
    setFailed(null);
    try {
      setStep('asking');
      const test = await testModel(client, model, key, access ?? undefined);
      if (!test.isOk) return setFailed(test);
      if (access !== null && provider !== undefined) {
        setStep('storing');
        await setProvider(client, provider.name, access);
      }
      // Before the rest of the app sees that there is a model: the page stays until a cap is chosen.
      onWorks(model, test);
      await refresh();
    } finally {
      setStep(null);
    }
  });
  const forget = () => {
    attempt.forget();
    setFailed(null);
  };
  return { start: attempt.run, step, failed, error: attempt.error, forget };
}
