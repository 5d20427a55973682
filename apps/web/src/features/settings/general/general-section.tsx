import { useQuery } from '@tanstack/react-query';
import { settingsQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Select } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage, type Language } from '../../../i18n/strings-context.tsx';
import { usePreferences, type Theme } from '../../../shell/preferences.tsx';
import { ActionFailure, Loaded, Part } from '../parts.tsx';
import { useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { EverywhereFolders } from './everywhere-folders.tsx';
import { generalStrings } from './strings.ts';
import { TimeZoneForm } from './time-zone-form.tsx';

export function GeneralSection() {
  const words = useFeatureStrings(generalStrings);
  const { api } = useVitto();
  const settings = useQuery(settingsQuery(api));
  return (
    <>
      <Part title={words.looks}>
        <Looks />
      </Part>
      <Loaded query={settings}>
        {(data) => (
          <>
            <Part title={words.zone} text={words.zoneText}>
              <TimeZoneForm saved={data.timeZone} />
            </Part>
            <Part title={words.folders} text={words.foldersText}>
              <EverywhereFolders folders={data.allowedPaths} />
            </Part>
          </>
        )}
      </Loaded>
    </>
  );
}

/** Both count at once; the language is kept with the person, the theme with the browser. */
function Looks() {
  const words = useFeatureStrings(generalStrings);
  const common = useFeatureStrings(settingsStrings);
  const language = useLanguage();
  const { theme, setTheme, setLanguage } = usePreferences();
  const change = useSettingsChange();
  const save = useAction((_key, next: Language) => change({ language: next }));
  const choose = (next: Language) => {
    setLanguage(next);
    void save.run(next);
  };
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
        <Field label={words.language} description={words.languageHelp}>
          {(control) => (
            <Select
              {...control}
              value={language}
              onChange={(event) => choose(event.target.value as Language)}
            >
              <option value="en" lang="en">
                English
              </option>
              <option value="es" lang="es">
                Español
              </option>
            </Select>
          )}
        </Field>
        <Field label={words.theme} description={words.themeHelp}>
          {(control) => (
            <Select {...control} value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
              <option value="system">{words.themes.system}</option>
              <option value="light">{words.themes.light}</option>
              <option value="dark">{words.themes.dark}</option>
            </Select>
          )}
        </Field>
      </div>
      <ActionFailure title={common.notSaved} error={save.error} />
    </>
  );
}
