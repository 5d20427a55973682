import type { PageName } from '../places.ts';
import type { shellStrings } from '../strings.ts';

type Words = keyof Omit<typeof shellStrings.en.shortcuts, 'title' | 'then' | 'note' | 'groups'>;

/** One line of the overview, and what the keys do. The first of `keys` is pressed before the second. */
export type Shortcut =
  | { group: 'go'; keys: readonly ['g', string]; page: PageName; to: string }
  | { group: 'here' | 'card'; keys: readonly [string]; label: Words };

/** Every shortcut there is: the listener and the overview read this table. Those of the cards are the cards' own. */
export const SHORTCUTS: readonly Shortcut[] = [
  { group: 'go', keys: ['g', 'v'], page: 'newConversation', to: '/vitto' },
  { group: 'go', keys: ['g', 'i'], page: 'inbox', to: '/vitto/inbox' },
  { group: 'go', keys: ['g', 't'], page: 'agentsAtWork', to: '/operations/agents' },
  { group: 'go', keys: ['g', 'o'], page: 'system', to: '/operations/system' },
  { group: 'go', keys: ['g', 'c'], page: 'costs', to: '/command/costs' },
  { group: 'go', keys: ['g', 'a'], page: 'audit', to: '/command/audit' },
  { group: 'go', keys: ['g', 's'], page: 'settings', to: '/vitto/settings' },
  { group: 'here', keys: ['/'], label: 'composer' },
  { group: 'here', keys: ['Ctrl K'], label: 'search' },
  { group: 'here', keys: ['j'], label: 'down' },
  { group: 'here', keys: ['k'], label: 'up' },
  { group: 'here', keys: ['Esc'], label: 'close' },
  { group: 'here', keys: ['?'], label: 'help' },
  { group: 'card', keys: ['a'], label: 'approve' },
  { group: 'card', keys: ['r'], label: 'refuse' },
];

/** Where `g` and then this letter go. */
export function findTarget(letter: string): string | null {
  const found = SHORTCUTS.find((one) => one.group === 'go' && one.keys[1] === letter);
  return found?.group === 'go' ? found.to : null;
}
