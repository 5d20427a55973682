import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';

/** How long it says that it has copied, in milliseconds. */
const SAID_MS = 2_000;

/** Copies a text, and says so for a moment. Nothing where a page has no clipboard (plain HTTP): text can be selected. */
export function CopyIcon(props: { label: string; done: string; getText: () => string | Promise<string> }) {
  const { label, done, getText } = props;
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = window.setTimeout(() => setDone(false), SAID_MS);
    return () => window.clearTimeout(timer);
  }, [isDone]);
  if (!window.isSecureContext) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await getText());
      setDone(true);
    } catch {
      // Refused by the browser: nothing was copied, and nothing is said.
    }
  };
  return (
    <span className="inline-flex items-center gap-1.5">
      <span role="status" className="text-xs text-green">
        {isDone ? done : ''}
      </span>
      <button
        type="button"
        aria-label={label}
        title={label}
        className="grid size-7 place-content-center rounded-md text-muted hover:bg-surface hover:text-ink"
        onClick={() => void copy()}
      >
        <Icon name="copy" className="size-3.5" />
      </button>
    </span>
  );
}
