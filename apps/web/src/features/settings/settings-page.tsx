import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { DraftsProvider } from './drafts.tsx';
import { LeaveQuestion } from './leave-question.tsx';
import { SectionList } from './section-list.tsx';
import { SECTIONS } from './sections.ts';
import { settingsStrings } from './strings.ts';

/** The list of parts beside the one that is open; on a phone one after the other. */
export function SettingsPage({ section }: { section: string }) {
  const words = useFeatureStrings(settingsStrings);
  // With room for both, something stands beside the list from the start.
  const shown = section === '' ? 'models' : section;
  const isListAlone = section === '';
  const opened = SECTIONS.find((one) => one.id === section)?.id;
  return (
    <DraftsProvider>
      <Page title={words.title} part={opened && words.sections[opened]}>
        <div className="gap-10 md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
          <div className={isListAlone ? '' : 'max-md:hidden'}>
            <SectionList current={shown} isAlone={isListAlone} />
          </div>
          <div className={`max-w-3xl min-w-0 ${isListAlone ? 'max-md:hidden' : ''}`}>
            <Link
              to="/vitto/settings/{-$section}"
              params={{ section: undefined }}
              className="mb-3 inline-flex min-h-8 items-center gap-1 text-muted md:hidden"
            >
              <Icon name="chevron" className="rotate-180" />
              {words.back}
            </Link>
            <Section id={shown} />
          </div>
        </div>
        <LeaveQuestion />
      </Page>
    </DraftsProvider>
  );
}

function Section({ id }: { id: string }) {
  const words = useFeatureStrings(settingsStrings);
  const found = SECTIONS.find((one) => one.id === id);
  if (found === undefined) return <p>{words.missing}</p>;
  const { Component } = found;
  return (
    <>
      <h2 className="mb-4 text-xl font-semibold tracking-tight">{words.sections[found.id]}</h2>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8 pb-12">
        <Suspense fallback={<div aria-busy="true" />}>
          <Component />
        </Suspense>
      </div>
    </>
  );
}
