import type { Language } from './strings-context.tsx';
import { useLanguage } from './strings-context.tsx';

/** Words of one feature in both languages; they are loaded with the feature. */
export type FeatureStrings<T> = Readonly<Record<Language, T>>;

/** The Spanish words have the keys of the English ones: the type says so. */
export function defineStrings<T>(en: T, es: NoInfer<T>): FeatureStrings<T> {
  return { en, es };
}

export function useFeatureStrings<T>(strings: FeatureStrings<T>): T {
  return strings[useLanguage()];
}
