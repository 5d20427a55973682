import { useId, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, SaveLine } from '../parts.tsx';
import { useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { generalStrings } from './strings.ts';

// UTC is none of the places that browsers list.
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone, found by typing a part of its name. */
export function TimeZoneForm({ saved }: { saved: string }) {
  const words = useFeatureStrings(generalStrings);
  const common = useFeatureStrings(settingsStrings);
  const language = useLanguage();
  const listId = useId();
  const draft = useDraft('general.zone', saved);
  const zone = draft.value;
  const isKnown = isTimeZone(zone);
  const [hasTried, setTried] = useState(false);
  const change = useSettingsChange();
  const save = useAction((_key) => change({ timeZone: zone }));
  const write = (next: string) => {
    setTried(false);
    save.forget();
    draft.change(next);
  };
  const submit = async () => {
    setTried(true);
    if (isKnown && (await save.run()) !== null) draft.reset();
  };
  return (
    <form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] max-w-md gap-3"
      onKeyDown={(event) => event.key === 'Escape' && draft.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.zoneField}
        description={isKnown ? words.zoneHelp(clockIn(zone, language)) : words.zoneBad}
        error={hasTried && !isKnown ? words.zoneBad : save.error?.fields[0]?.message}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            list={listId}
            value={zone}
            onChange={(event) => write(event.target.value)}
          />
        )}
      </Field>
      <datalist id={listId}>
        {ZONES.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {zone !== HERE && (
        <Button className="justify-self-start" onClick={() => write(HERE)}>
          {words.zoneHere(HERE)}
        </Button>
      )}
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine
        label={common.save}
        isBusy={save.isBusy}
        isDone={save.isDone}
        isChanged={draft.isChanged}
        onCancel={draft.isChanged ? draft.reset : undefined}
      />
    </form>
  );
}

function isTimeZone(zone: string): boolean {
  try {
    return zone !== '' && Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}

function clockIn(zone: string, language: string): string {
  return new Intl.DateTimeFormat(language, { timeZone: zone, timeStyle: 'short' }).format(new Date());
}
