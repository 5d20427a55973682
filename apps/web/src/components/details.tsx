import { useId, type ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { useKept } from './kept-state.tsx';

/**
 * A line that opens to more. What is closed is not in the page. With a name it stays open when it scrolls out of a long
 * list and back.
 */
export function Details(props: { summary: ReactNode; name?: string; children: ReactNode }) {
  const { summary, name = null, children } = props;
  const [isOpen, setOpen] = useKept(name, false);
  const id = useId();
  return (
    <div>
      <button
        type="button"
        data-state={isOpen ? 'open' : 'closed'}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="group inline-flex min-h-6 items-center gap-1 text-sm text-muted hover:text-ink"
      >
        <Icon name="chevron" className="size-3.5 transition-transform group-data-[state=open]:rotate-90" />
        {summary}
      </button>
      {isOpen && (
        <div id={id} className="appear mt-1 border-s-2 border-line ps-3">
          {children}
        </div>
      )}
    </div>
  );
}
