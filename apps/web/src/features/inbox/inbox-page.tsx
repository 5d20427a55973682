import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { inboxStrings } from './strings.ts';

export function InboxPage() {
  const strings = useFeatureStrings(inboxStrings);
  return <Page title={strings.title}>{null}</Page>;
}
