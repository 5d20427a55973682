import { useEffect, type ReactNode } from 'react';
import { useStrings } from '../i18n/strings-context.tsx';
import { MenuButton } from '../shell/rail.tsx';

/** A page of the shell: its heading, what can be done there, and a content column. `isWide` for live views. */
export function Page(props: { title: string; actions?: ReactNode; isWide?: boolean; children: ReactNode }) {
  const { title, actions, isWide = false, children } = props;
  const strings = useStrings();
  useEffect(() => {
    document.title = `${title.toWellFormed()} · ${strings.app.name}`;
  }, [title, strings]);
  return (
    <main id="content" className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 items-center gap-2 border-b border-line px-4">
        <MenuButton />
        <h1 className="min-w-0 flex-1 truncate font-semibold" dir="auto">
          {title.toWellFormed()}
        </h1>
        {actions}
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className={`mx-auto w-full px-4 py-6 ${isWide ? '' : 'max-w-[1200px]'}`}>{children}</div>
      </div>
    </main>
  );
}
