import { Link } from '@tanstack/react-router';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { laterStrings, TODAY, type LaterPlace } from './strings.ts';

/** A place that is not built yet says which question it will answer, what it will do, and what serves until then. */
export function LaterPage({ place }: { place: LaterPlace }) {
  const strings = useFeatureStrings(laterStrings);
  const { title, question, will } = strings.places[place];
  const today = TODAY[place];
  return (
    <Page title={title}>
      <div className="mx-auto grid max-w-xl gap-5 py-6 sm:py-14">
        <p className="w-fit rounded-full border border-dashed border-line-strong px-2.5 py-0.5 text-xs font-medium text-muted">
          {strings.notYet}
        </p>
        <p className="text-xl leading-snug font-semibold text-balance">{question}</p>
        <section className="grid gap-2">
          <h2 className="text-xs font-medium text-muted">{strings.what}</h2>
          <ul className="grid gap-1.5">
            {will.map((line) => (
              <li key={line} className="flex gap-2.5">
                <span className="mt-2 size-1.5 shrink-0 rounded-full bg-line-strong" aria-hidden="true" />
                {line}
              </li>
            ))}
          </ul>
        </section>
        <section className="grid gap-2 border-t border-line pt-4">
          <h2 className="text-xs font-medium text-muted">{strings.untilThen}</h2>
          <Link
            to={today.to}
            className="flex w-fit min-h-8 items-center gap-1.5 rounded-md border border-line bg-surface px-3 py-1 font-medium hover:border-line-strong"
          >
            {strings.today[today.name]}
            <Icon name="chevron" className="size-3.5 text-muted" />
          </Link>
        </section>
      </div>
    </Page>
  );
}
