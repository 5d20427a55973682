import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { settingsStrings } from './strings.ts';

export function SettingsPage({ section }: { section: string }) {
  const strings = useFeatureStrings(settingsStrings);
  return (
    <Page title={strings.title}>
      <p>{section}</p>
    </Page>
  );
}
