import { Field } from '../../components/field.tsx';
import { Select, TextInput } from '../../components/inputs.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { auditStrings } from './strings.ts';
import { useAuditActions, useAuditFilter } from './use-audit.ts';
import { usePausedText } from './use-paused-text.ts';

export function AuditFilters() {
  const strings = useFeatureStrings(auditStrings);
  const { text, setText, action, setAction, from, setFrom, to, setTo } = useAuditFilter();
  const [typed, setTyped] = usePausedText(text, setText);
  const actions = useAuditActions();

  return (
    <form
      role="search"
      className="grid gap-3 sm:grid-cols-2 lg:grid-cols-[2fr_1fr_auto]"
      onSubmit={(event) => event.preventDefault()}
    >
      <Field label={strings.search}>
        {(control) => (
          <TextInput
            {...control}
            type="search"
            placeholder={strings.searchHint}
            maxLength={200}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Field label={strings.action}>
        {(control) => (
          <Select {...control} value={action} onChange={(event) => setAction(event.target.value)}>
            <option value="">{strings.allActions}</option>
            {toOptions(actions, action).map((one) => (
              <option key={one} value={one}>
                {strings.actions[one] ?? one}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <div className="grid grid-cols-2 gap-3 sm:max-lg:col-span-2">
        <DayField label={strings.from} max={to} day={from} setDay={setFrom} />
        <DayField label={strings.to} min={from} day={to} setDay={setTo} />
      </div>
    </form>
  );
}

interface DayFieldProps {
  label: string;
  day: string;
  setDay: (day: string) => void;
  min?: string;
  max?: string;
}

/** The browser's own field for a day: it is written and picked as the person is used to. */
function DayField({ label, day, setDay, ...limits }: DayFieldProps) {
  const [typed, setTyped] = usePausedText(day, setDay);
  return (
    <Field label={label}>
      {(control) => (
        <TextInput
          {...control}
          {...limits}
          type="date"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </Field>
  );
}

/** The actions there are, and the one of the address although no entry has it. */
function toOptions(actions: readonly string[], chosen: string): readonly string[] {
  return chosen === '' || actions.includes(chosen) ? actions : [...actions, chosen];
}
