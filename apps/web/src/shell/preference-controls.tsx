import { useSession } from '../api/session.ts';
import { useSettingsChange } from '../features/settings/settings-api.ts';
import { useLanguage, useStrings, type Language } from '../i18n/strings-context.tsx';
import { usePreferences, type Theme } from './preferences.tsx';

const SELECT =
  'min-h-8 w-full rounded-md border border-line bg-surface px-2 text-sm text-ink hover:border-line-strong';

export function PreferenceControls() {
  const strings = useStrings();
  const language = useLanguage();
  const { theme, setTheme, setLanguage } = usePreferences();
  const session = useSession();
  const change = useSettingsChange();
  const choose = (next: Language) => {
    setLanguage(next);
    // Vitto answers and calls in it too. Where that cannot be said now, this browser still keeps to it.
    if (session.data != null) void change({ language: next }).catch(() => undefined);
  };
  return (
    <div className="grid grid-cols-2 gap-2 text-xs text-muted">
      <label className="grid gap-1">
        {strings.preferences.theme}
        <select className={SELECT} value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
          <option value="system">{strings.preferences.themeSystem}</option>
          <option value="light">{strings.preferences.themeLight}</option>
          <option value="dark">{strings.preferences.themeDark}</option>
        </select>
      </label>
      <label className="grid gap-1">
        {strings.preferences.language}
        <select
          className={SELECT}
          value={language}
          onChange={(event) => choose(event.target.value as Language)}
        >
          <option value="en">English</option>
          <option value="es">Español</option>
        </select>
      </label>
    </div>
  );
}
