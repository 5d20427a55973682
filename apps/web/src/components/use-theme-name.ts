import { useSyncExternalStore } from 'react';

const DARK = '(prefers-color-scheme: dark)';

/** What the page looks like now, for what is drawn and must be drawn again when that changes. */
export function useThemeName(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, readTheme);
}

function readTheme(): 'light' | 'dark' {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return window.matchMedia(DARK).matches ? 'dark' : 'light';
}

function subscribe(notify: () => void): () => void {
  const media = window.matchMedia(DARK);
  const observer = new MutationObserver(notify);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  media.addEventListener('change', notify);
  return () => {
    observer.disconnect();
    media.removeEventListener('change', notify);
  };
}
