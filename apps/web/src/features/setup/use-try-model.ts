import type { ModelProvider, ModelTest, SetModelProvider } from '@vitto/contracts';
import { useState } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { removeProvider, setProvider, testModel } from '../settings/models/models-api.ts';
import { useProviderRefresh } from '../settings/models/use-provider-refresh.ts';
import { useAction } from '../settings/use-action.ts';

/** What is tried: the access to a provider, unless it is there already, and a model of it. */
export interface Candidate {
  provider: ModelProvider | undefined;
  access: SetModelProvider | null;
  /** As `provider/model`. */
  model: string;
}

/**
 * Stores the access, asks the model, and takes back what did not work: a provider counts as set up only when a model
 * of it has answered. One that was set up here before keeps what it was given.
 */
export function useTryModel(onWorks: (model: string, test: ModelTest) => void) {
  const { client } = useVitto();
  const refresh = useProviderRefresh();
  const [step, setStep] = useState<'storing' | 'asking' | null>(null);
  const [failed, setFailed] = useState<ModelTest | null>(null);

  const attempt = useAction(async (key, { provider, access, model }: Candidate) => {
    setFailed(null);
    const isNew = access !== null && provider?.source === null;
    try {
      if (access !== null && provider !== undefined) {
        setStep('storing');
        await setProvider(client, provider.name, access);
      }
      setStep('asking');
      const test = await testModel(client, model, key);
      if (test.isOk) return onWorks(model, test);
      setFailed(test);
      if (isNew) await removeProvider(client, provider.name);
    } catch (error) {
      if (isNew) await removeProvider(client, provider.name).catch(() => undefined);
      throw error;
    } finally {
      setStep(null);
      await refresh();
    }
  });
  const forget = () => {
    attempt.forget();
    setFailed(null);
  };
  return { start: attempt.run, step, failed, error: attempt.error, forget };
}
