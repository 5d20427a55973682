import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { taskStrings } from './strings.ts';

export function TaskPage({ id }: { id: string }) {
  const strings = useFeatureStrings(taskStrings);
  return (
    <Page title={strings.title}>
      <p>{id}</p>
    </Page>
  );
}
