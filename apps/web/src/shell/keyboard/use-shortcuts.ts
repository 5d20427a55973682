import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { openShortcuts } from './shortcut-overview.tsx';
import { findTarget } from './shortcuts.ts';
import { stepThroughRows } from './step-through-rows.ts';

/** How long `g` waits for its letter, in milliseconds. */
const PATIENCE_MS = 1500;
/** What takes letters itself, or stands in front of the page. */
const TAKES_KEYS =
  'input, textarea, select, [contenteditable=true], dialog, [role=dialog], [role=menu], [role=listbox]';
const IN_FRONT = 'dialog[open], [role=dialog][data-state=open], [role=alertdialog][data-state=open]';

/** The shortcuts that work on every page; never while somebody types, holds a modifier, or has a dialog open. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntil = 0;
    const go = (to: string) => void navigate({ to });
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey)
        return take(event, () => void toSearch(go));
      if (!mayTake(event)) return;
      const isGoing = performance.now() < goUntil;
      goUntil = 0;
      if (isGoing) {
        const target = findTarget(event.key);
        if (target !== null) return take(event, () => go(target));
      }
      if (event.key === 'g') goUntil = performance.now() + PATIENCE_MS;
      else if (event.key === '?') take(event, openShortcuts);
      else if (event.key === '/') take(event, () => void toComposer(go));
      else if (event.key === 'j') take(event, () => stepThroughRows(1));
      else if (event.key === 'k') take(event, () => stepThroughRows(-1));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
}

function mayTake(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return false;
  if (event.target instanceof Element && event.target.closest(TAKES_KEYS) !== null) return false;
  return document.querySelector(IN_FRONT) === null;
}

function take(event: KeyboardEvent, act: () => void): void {
  event.preventDefault();
  act();
}

/** The composer of this page, else that of a new conversation once it is there. */
function toComposer(go: (to: string) => void, left = 120): void {
  const composer = document.querySelector<HTMLTextAreaElement>('#content textarea[aria-keyshortcuts="/"]');
  if (composer !== null) return composer.focus();
  if (left === 120) go('/vitto');
  if (left > 0) requestAnimationFrame(() => toComposer(go, left - 1));
}

/** The search of the conversations, which is in the rail of Vitto's own place. */
function toSearch(go: (to: string) => void, left = 120): void {
  const field = [...document.querySelectorAll<HTMLInputElement>('input[data-search]')].find((one) =>
    one.checkVisibility(),
  );
  if (field !== undefined) return field.select();
  if (left === 120) {
    document.querySelector<HTMLButtonElement>('button[data-unfold]')?.click();
    if (document.querySelector('input[data-search]') === null) go('/vitto');
  }
  if (left > 0) requestAnimationFrame(() => toSearch(go, left - 1));
}
