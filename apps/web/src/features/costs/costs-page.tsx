import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { costsStrings } from './strings.ts';

export function CostsPage() {
  const strings = useFeatureStrings(costsStrings);
  return <Page title={strings.title}>{null}</Page>;
}
