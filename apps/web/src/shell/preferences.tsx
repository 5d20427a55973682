import { createContext, use, useEffect, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { settingsQuery } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { useVitto } from '../api/vitto-context.tsx';
import { StringsProvider, type Language } from '../i18n/strings-context.tsx';

export type Theme = 'system' | 'light' | 'dark';

interface Preferences {
  theme: Theme;
  setTheme: (theme: Theme) => void;
  setLanguage: (language: Language) => void;
}
const PreferencesContext = createContext<Preferences | null>(null);

export function usePreferences(): Preferences {
  const preferences = use(PreferencesContext);
  if (preferences === null) throw new Error('PreferencesProvider is missing');
  return preferences;
}

/** Theme and language: what this browser was told, else what the person's settings or the browser say. */
export function PreferencesProvider({ children }: { children: ReactNode }) {
  const { api } = useVitto();
  const session = useSession();
  const settings = useQuery({ ...settingsQuery(api), enabled: session.data != null });
  const [theme, setTheme] = useStored<Theme>('vitto.theme', ['system', 'light', 'dark']);
  const [chosen, setLanguage] = useStored<Language>('vitto.language', ['en', 'es']);
  const language = chosen ?? settings.data?.language ?? browserLanguage();

  useEffect(() => {
    if (theme === null || theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  return (
    <PreferencesContext value={{ theme: theme ?? 'system', setTheme, setLanguage }}>
      <StringsProvider language={language}>{children}</StringsProvider>
    </PreferencesContext>
  );
}

function browserLanguage(): Language {
  return navigator.language.toLowerCase().startsWith('es') ? 'es' : 'en';
}

/** One of a few words kept in this browser; `null` until one is chosen. */
function useStored<T extends string>(key: string, words: readonly T[]): [T | null, (word: T) => void] {
  const [word, setWord] = useState<T | null>(
    () => words.find((one) => one === localStorage.getItem(key)) ?? null,
  );
  return [
    word,
    (next) => {
      localStorage.setItem(key, next);
      setWord(next);
    },
  ];
}
