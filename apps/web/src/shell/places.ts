import type { IconName } from '../components/icon.tsx';
import type { shellStrings } from './strings.ts';

export type PlaceName = keyof typeof shellStrings.en.places;
export type PageName = keyof typeof shellStrings.en.pages;

export interface PageEntry {
  name: PageName;
  to: string;
  /** It says what will be there, and is marked so. */
  isLater?: boolean;
}

export interface Place {
  name: PlaceName;
  icon: IconName;
  pages: readonly PageEntry[];
}

/** The five places and their pages, in the order in which they are shown. The first page is the place's own address. */
export const PLACES: readonly Place[] = [
  {
    name: 'vitto',
    icon: 'chat',
    pages: [
      { name: 'newConversation', to: '/vitto' },
      { name: 'inbox', to: '/vitto/inbox' },
      { name: 'memory', to: '/vitto/memory', isLater: true },
      { name: 'conscience', to: '/vitto/conscience', isLater: true },
      { name: 'brain', to: '/vitto/brain', isLater: true },
      { name: 'identity', to: '/vitto/identity', isLater: true },
    ],
  },
  {
    name: 'agents',
    icon: 'agents',
    pages: [
      { name: 'experts', to: '/vitto/agents', isLater: true },
      { name: 'maker', to: '/vitto/maker', isLater: true },
      { name: 'triggers', to: '/vitto/triggers', isLater: true },
      { name: 'channels', to: '/vitto/channels', isLater: true },
    ],
  },
  {
    name: 'operations',
    icon: 'pulse',
    pages: [
      { name: 'agentsAtWork', to: '/operations/agents' },
      { name: 'live', to: '/operations/live' },
      { name: 'system', to: '/operations/system' },
    ],
  },
  {
    name: 'command',
    icon: 'shield',
    pages: [
      { name: 'costs', to: '/command/costs' },
      { name: 'audit', to: '/command/audit' },
      { name: 'trust', to: '/command/trust', isLater: true },
      { name: 'integrations', to: '/command/integrations', isLater: true },
      { name: 'users', to: '/command/users', isLater: true },
    ],
  },
  { name: 'settings', icon: 'settings', pages: [{ name: 'settings', to: '/vitto/settings' }] },
];

/** The place that an address belongs to: conversations and tasks are Vitto's. */
export function findPlace(path: string): Place {
  const owner = PLACES.find((place) =>
    place.pages.some((page) => page.to !== '/vitto' && isAt(path, page.to)),
  );
  return owner ?? (PLACES[0] as Place);
}

/** True on a page and on what lies below it; a new conversation has nothing below. */
export function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/vitto' && path.startsWith(`${to}/`));
}
