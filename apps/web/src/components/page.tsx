import { useEffect, type ReactNode, type Ref } from 'react';
import { useStrings } from '../i18n/strings-context.tsx';
import { MenuButton } from '../shell/drawer.tsx';

interface PageProps {
  title: string;
  /** The part of it that is open, for the title of the tab. */
  part?: string | undefined;
  actions?: ReactNode;
  /** For live views: the whole width. */
  isWide?: boolean;
  /** The frame that scrolls, for lists that draw only what is in sight. */
  scroller?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** A page of the shell: its heading, what can be done there, and a content column. */
export function Page({ title, part, actions, isWide = false, scroller, children }: PageProps) {
  const strings = useStrings();
  useEffect(() => {
    document.title = [part, title, strings.app.name]
      .filter((one) => one !== undefined)
      .join(' · ')
      .toWellFormed();
  }, [part, title, strings]);
  return (
    <main id="content" className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 items-center gap-2 border-b border-line px-4">
        <MenuButton />
        <h1 className="min-w-0 flex-1 truncate font-semibold outline-none" dir="auto">
          {title.toWellFormed()}
        </h1>
        {actions}
      </header>
      <div ref={scroller} className="relative min-h-0 flex-1 overflow-y-auto">
        <div className={`mx-auto w-full px-4 py-6 ${isWide ? '' : 'max-w-[1200px]'}`}>{children}</div>
      </div>
    </main>
  );
}
