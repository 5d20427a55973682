import { useEffect, useState } from 'react';

/** What is typed is searched for once the typing pauses, in milliseconds. */
const PAUSE_MS = 250;

/** A field for a text of the address: what is typed shows at once and goes there in the pauses. */
export function usePausedText(text: string, setText: (text: string) => void) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = window.setTimeout(() => setText(typed.trim()), PAUSE_MS);
    return () => window.clearTimeout(timer);
    // Only what is typed counts here: a search that comes from elsewhere is taken over below.
  }, [typed]);
  const [known, setKnown] = useState(text);
  if (known !== text) {
    setKnown(text);
    if (typed.trim() !== text) setTyped(text);
  }
  return [typed, setTyped] as const;
}
