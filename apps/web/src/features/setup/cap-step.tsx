import type { ModelTest } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { settingsQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/inputs.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { modelSetupQuery } from '../settings/models/models-api.ts';
import { TestOutcome } from '../settings/models/test-outcome.tsx';
import { useProviderRefresh } from '../settings/models/use-provider-refresh.ts';
import { useSettingsChange } from '../settings/settings-api.ts';
import { useAction } from '../settings/use-action.ts';
import { setupStrings } from './strings.ts';

/** What the set-up page suggests as a cap a day, in US dollars. */
const SUGGESTED_USD = '5';

interface CapStepProps {
  model: string;
  test: ModelTest;
  onDone: () => void;
  onAgain: () => void;
}

/** The model has answered: from here on it counts, with a cap on what a day may cost where that can be kept. */
export function CapStep({ model, test, onDone, onAgain }: CapStepProps) {
  const words = useFeatureStrings(setupStrings);
  const [cap, setCap] = useState(SUGGESTED_USD);
  const [isBad, setBad] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const isFree = test.costUsd === 0;
  const isPriced = test.costUsd !== null && !isFree;
  const take = useTake(model);
  const start = (dailyCostUsd: number | null) => void take.run(dailyCostUsd).then((done) => done && onDone());
  const submit = () => {
    if (!isPriced) return start(null);
    const amount = Number(cap.trim().replace(',', '.'));
    if (amount > 0 && Number.isFinite(amount)) start(amount);
    else setBad(true);
  };
  return (
    <form
      noValidate
      className="appear grid grid-cols-[minmax(0,1fr)] gap-4 rounded-lg border border-line-strong bg-surface p-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h3 ref={heading} tabIndex={-1} className="text-base font-semibold outline-none">
        {words.capTitle} <code className="mono break-all">{model}</code>
      </h3>
      <TestOutcome result={test} error={null} />
      <p className="text-muted">{isPriced ? words.capText : isFree ? words.capFree : words.capUnpriced}</p>
      {isPriced && (
        <Field label={words.cap} error={isBad ? words.capBad : null} className="max-w-56">
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              autoComplete="off"
              className="tabular"
              value={cap}
              onChange={(event) => {
                setBad(false);
                take.forget();
                setCap(event.target.value);
              }}
            />
          )}
        </Field>
      )}
      {take.error !== null && <FailureNote title={words.notStarted} error={take.error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" className="min-h-9" aria-disabled={take.isBusy}>
          {isPriced ? words.start : words.startPlain}
        </Button>
        {isPriced && (
          <Button className="min-h-9" aria-disabled={take.isBusy} onClick={() => start(null)}>
            {words.skip}
          </Button>
        )}
        <Button look="quiet" className="min-h-9" onClick={onAgain}>
          {words.again}
        </Button>
      </div>
    </form>
  );
}

/** Makes the model the first of this person's list, unless it is already. */
function useTake(model: string) {
  const { api, client } = useVitto();
  const queries = useQueryClient();
  const change = useSettingsChange();
  const refresh = useProviderRefresh();
  return useAction(async (_key, dailyCostUsd: number | null) => {
    const { mainModels } = await queries.fetchQuery({ ...modelSetupQuery(client), staleTime: 0 });
    const { models } = await queries.fetchQuery({ ...settingsQuery(api), staleTime: 0 });
    const main = [model, ...mainModels.filter((one) => one !== model)].join(',');
    await change({
      ...(mainModels[0] === model ? {} : { models: { ...models, main } }),
      ...(dailyCostUsd === null ? {} : { dailyCostUsd }),
    });
    await refresh();
    return true;
  });
}
