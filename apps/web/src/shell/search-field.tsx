import { useRef } from 'react';
import { Icon } from '../components/icon.tsx';
import { useStrings } from '../i18n/strings-context.tsx';

/** `Ctrl` or `⌘` with `K` comes here from every page. Escape clears it, and leaves it when it is clear. */
export function SearchField({ text, onText }: { text: string; onText: (text: string) => void }) {
  const strings = useStrings();
  const field = useRef<HTMLInputElement>(null);
  return (
    <div className="relative">
      <Icon name="search" className="pointer-events-none absolute start-2 top-2 text-muted" />
      <input
        ref={field}
        data-search
        type="search"
        role="searchbox"
        dir="auto"
        maxLength={200}
        aria-label={strings.list.search}
        aria-keyshortcuts="Control+K Meta+K"
        placeholder={strings.list.search}
        className="min-h-8 w-full rounded-md border border-line bg-surface ps-8 pe-8 placeholder:text-muted hover:border-line-strong focus-visible:outline-offset-[-2px] max-md:text-base [&::-webkit-search-cancel-button]:hidden"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // In a dialog, the first Escape is for the field.
          if (text !== '') event.preventDefault();
          if (text === '') field.current?.blur();
          onText('');
        }}
      />
      {text !== '' && (
        <button
          type="button"
          aria-label={strings.list.clearSearch}
          className="absolute end-0.5 top-0.5 grid size-7 place-content-center rounded-md text-muted hover:text-ink"
          onClick={() => {
            onText('');
            field.current?.focus();
          }}
        >
          <Icon name="close" className="size-3.5" />
        </button>
      )}
    </div>
  );
}
