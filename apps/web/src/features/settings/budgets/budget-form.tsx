import type { Settings, SettingsLimits } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, Part, SaveLine } from '../parts.tsx';
import { todayQuery, useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import {
  findBadFields,
  toChange,
  toValues,
  WHOLE,
  type BudgetField,
  type BudgetValues,
} from './budget-values.ts';
import { budgetsStrings } from './strings.ts';

/** All limits of a person in one form: they are one decision. */
export function BudgetForm({ settings, limits }: { settings: Settings; limits: SettingsLimits }) {
  const words = useFeatureStrings(budgetsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const saved = toValues(settings);
  const draft = useDraft('budgets.all', saved);
  const [bad, setBad] = useState<ReadonlySet<BudgetField>>(new Set());
  const send = useSettingsChange();
  const save = useAction((_key) => send(toChange(draft.value)));
  const fault = findFault(save.error, draft.value, saved);

  const submit = async () => {
    const found = findBadFields(draft.value);
    setBad(found);
    if (found.size > 0 || (await save.run()) === null) return;
    draft.reset();
    await queries.invalidateQueries({ queryKey: todayQuery(client).queryKey });
  };
  const field = (name: BudgetField) => ({
    name,
    value: draft.value[name],
    error: bad.has(name)
      ? WHOLE.includes(name)
        ? words.badWhole
        : words.badMoney
      : fault === name
        ? `${save.error?.message} ${save.error?.hint ?? ''}`
        : null,
    onChange: (text: string) => {
      setBad(new Set());
      save.forget();
      draft.change({ ...draft.value, [name]: text });
    },
  });
  const { budget } = limits;
  const minutes = budget.maxDurationMs === null ? null : budget.maxDurationMs / 60_000;
  return (
    <form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-8"
      onKeyDown={(event) => event.key === 'Escape' && draft.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Part title={words.task} text={words.taskText}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
          <Amount {...field('maxIterations')} label={words.iterations} limit={budget.maxIterations} />
          <Amount {...field('maxTokens')} label={words.tokens} limit={budget.maxTokens} />
          <Amount {...field('maxCostUsd')} label={words.money} limit={budget.maxCostUsd} isMoney />
          <Amount {...field('minutes')} label={words.minutes} limit={minutes} help={words.minutesHelp} />
        </div>
      </Part>
      <Part title={words.day} text={words.dayText}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
          <Amount {...field('dailyCostUsd')} label={words.daily} limit={limits.dailyCostUsd} isMoney />
        </div>
      </Part>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {fault === null && <ActionFailure title={common.notSaved} error={save.error} />}
        <SaveLine
          label={common.save}
          isBusy={save.isBusy}
          isDone={save.isDone}
          isChanged={draft.isChanged}
          onCancel={draft.isChanged ? draft.reset : undefined}
        />
      </div>
    </form>
  );
}

interface AmountProps {
  label: string;
  value: string;
  error: string | null;
  limit: number | null;
  help?: string;
  isMoney?: boolean;
  onChange: (text: string) => void;
}

function Amount({ label, value, error, limit, help, isMoney = false, onChange }: AmountProps) {
  const words = useFeatureStrings(budgetsStrings);
  const number = new Intl.NumberFormat(useLanguage()).format(limit ?? 0);
  const most = limit === null ? words.unlimited : words.atMost(isMoney ? `$${number}` : number);
  return (
    <Field label={label} error={error} description={help === undefined ? most : `${most} ${help}`}>
      {(control) => (
        <TextInput
          {...control}
          inputMode={isMoney ? 'decimal' : 'numeric'}
          autoComplete="off"
          className="tabular"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** The field that a refusal is about; `null` when it is about none. */
function findFault(error: ApiError | null, values: BudgetValues, saved: BudgetValues): BudgetField | null {
  if (error === null) return null;
  const named = error.fields[0]?.path.split('.').at(-1);
  if (named === 'maxDurationMs') return 'minutes';
  if (named !== undefined && named in values) return named as BudgetField;
  if (error.code !== 'budget.no-price') return null;
  return values.maxCostUsd !== saved.maxCostUsd && values.maxCostUsd !== '' ? 'maxCostUsd' : 'dailyCostUsd';
}
