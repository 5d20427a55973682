import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { agentsStrings } from './strings.ts';

export function AgentsPage() {
  const strings = useFeatureStrings(agentsStrings);
  return <Page title={strings.title}>{null}</Page>;
}
