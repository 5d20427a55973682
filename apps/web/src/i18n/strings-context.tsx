import { createContext, use, type ReactNode } from 'react';
import { en, type Strings } from './strings.en.ts';
import { es } from './strings.es.ts';

export type Language = 'en' | 'es';

const CATALOGUES: Record<Language, Strings> = { en, es };

const StringsContext = createContext<{ strings: Strings; language: Language }>({
  strings: en,
  language: 'en',
});

export function StringsProvider({ language, children }: { language: Language; children: ReactNode }) {
  return <StringsContext value={{ strings: CATALOGUES[language], language }}>{children}</StringsContext>;
}

/** The words of the person's language. */
export function useStrings(): Strings {
  return use(StringsContext).strings;
}

export function useLanguage(): Language {
  return use(StringsContext).language;
}
