import { useEffect, useState } from 'react';
import { Field } from '../../components/field.tsx';
import { Select, TextInput } from '../../components/inputs.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { auditStrings } from './strings.ts';
import { useAuditActions, useAuditFilter } from './use-audit.ts';

/** What is typed is searched for once the typing pauses, in milliseconds. */
const PAUSE_MS = 250;

export function AuditFilters() {
  const strings = useFeatureStrings(auditStrings);
  const { text, setText, action, setAction } = useAuditFilter();
  const [typed, setTyped] = useState(text);
  const actions = useAuditActions();

  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = window.setTimeout(() => setText(typed.trim()), PAUSE_MS);
    return () => window.clearTimeout(timer);
    // Only what is typed counts here: a search that comes from elsewhere is taken over below.
  }, [typed]);
  const [known, setKnown] = useState(text);
  if (known !== text) {
    setKnown(text);
    if (typed.trim() !== text) setTyped(text);
  }

  return (
    <form
      role="search"
      className="grid gap-3 sm:grid-cols-[2fr_1fr]"
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
    </form>
  );
}

/** The actions there are, and the one of the address although no entry has it. */
function toOptions(actions: readonly string[], chosen: string): readonly string[] {
  return chosen === '' || actions.includes(chosen) ? actions : [...actions, chosen];
}
