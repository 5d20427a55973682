import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { systemStrings } from './strings.ts';

export function SystemPage() {
  const strings = useFeatureStrings(systemStrings);
  return <Page title={strings.title}>{null}</Page>;
}
