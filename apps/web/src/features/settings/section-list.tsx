import { Link } from '@tanstack/react-router';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useUnsavedSections } from './drafts.tsx';
import { SECTIONS } from './sections.ts';
import { settingsStrings } from './strings.ts';

/** The parts of the settings; on a phone this is a page of its own. */
export function SectionList({ current, isAlone }: { current: string; isAlone: boolean }) {
  const words = useFeatureStrings(settingsStrings);
  const unsaved = useUnsavedSections();
  return (
    <nav aria-label={words.list} className="grid grid-cols-[minmax(0,1fr)] content-start gap-px">
      {SECTIONS.map(({ id }) => (
        <Link
          key={id}
          to="/vitto/settings/{-$section}"
          params={{ section: id }}
          aria-current={current === id && !isAlone ? 'page' : undefined}
          data-shown={current === id ? '' : undefined}
          className="flex min-h-9 items-center gap-2 rounded-md px-2.5 hover:bg-sunken md:data-shown:bg-sunken md:data-shown:font-medium max-md:min-h-11 max-md:border-b max-md:border-line"
        >
          <span className="min-w-0 flex-1">{words.sections[id]}</span>
          {unsaved.has(id) && (
            <span className="size-2 rounded-full bg-amber" role="img" aria-label={words.hasUnsaved} />
          )}
          <Icon name="chevron" className="text-muted md:hidden" />
        </Link>
      ))}
      <p className="mt-3 px-2.5 text-xs text-muted">{words.later}</p>
    </nav>
  );
}
