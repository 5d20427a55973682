import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { laterStrings, type LaterPlace } from './strings.ts';

/** A place that is not built yet says what will be there. */
export function LaterPage({ place }: { place: LaterPlace }) {
  const strings = useFeatureStrings(laterStrings);
  const { title, text } = strings.places[place];
  return (
    <Page title={title}>
      <p className="font-medium">{strings.notYet}</p>
      <p className="mt-1 text-muted">{text}</p>
    </Page>
  );
}
