import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ConversationPage, type ConversationPlace } from './features/chat/conversation-page.tsx';
import { NewConversationPage } from './features/chat/new-conversation-page.tsx';
import type { LaterPlace } from './features/later/strings.ts';
import { SignInPage } from './features/sign-in/sign-in-page.tsx';
import { CrashedPage, MissingPage } from './shell/lost-pages.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: MissingPage,
  errorComponent: CrashedPage,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    // The router throws its redirects.
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw redirect({ to: '/vitto', replace: true });
  },
});
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage });
/** Everything that needs a session: the rail, and a place beside it. */
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const newConversation = createRoute({
  getParentRoute: () => shell,
  path: '/vitto',
  component: NewConversationPage,
});
const conversation = createRoute({
  getParentRoute: () => shell,
  path: '/vitto/c/$conversationId',
  validateSearch: readPlace,
  component: ConversationRoute,
});

function ConversationRoute() {
  const { conversationId } = conversation.useParams();
  return <ConversationPage key={conversationId} id={conversationId} place={conversation.useSearch()} />;
}

/** What is no place is left out of the address. */
function readPlace(search: Record<string, unknown>): ConversationPlace {
  const { at, artifact } = search;
  return {
    ...(Number.isSafeInteger(at) && (at as number) > 0 ? { at: at as number } : {}),
    ...(typeof artifact === 'string' ? { artifact } : {}),
  };
}

// The chat is the first page; every other place is loaded when it is opened.
const inbox = page('/vitto/inbox', () => import('./features/inbox/inbox-page.tsx'), 'InboxPage');
const agents = page('/operations/agents', () => import('./features/agents/agents-page.tsx'), 'AgentsPage');
const live = page('/operations/live', () => import('./features/live/live-page.tsx'), 'LivePage');
const system = page('/operations/system', () => import('./features/system/system-page.tsx'), 'SystemPage');
const costs = page('/command/costs', () => import('./features/costs/costs-page.tsx'), 'CostsPage');
const audit = page('/command/audit', () => import('./features/audit/audit-page.tsx'), 'AuditPage');

// Those that take something of the address are loaded by their route too, before they are drawn: React complains of a
// page that waits for itself.
const TaskPage = lazyRouteComponent(() => import('./features/task/task-page.tsx'), 'TaskPage');
const task = createRoute({
  getParentRoute: () => shell,
  path: '/vitto/t/$taskId',
  loader: () => TaskPage.preload?.(),
  component: TaskRoute,
});
function TaskRoute() {
  const { taskId } = task.useParams();
  return <TaskPage key={taskId} id={taskId} />;
}

const SettingsPage = lazyRouteComponent(
  () => import('./features/settings/settings-page.tsx'),
  'SettingsPage',
);
const settings = createRoute({
  getParentRoute: () => shell,
  path: '/vitto/settings/{-$section}',
  loader: () => SettingsPage.preload?.(),
  component: SettingsRoute,
});
function SettingsRoute() {
  return <SettingsPage section={settings.useParams().section ?? ''} />;
}

const LaterPage = lazyRouteComponent(() => import('./features/later/later-page.tsx'), 'LaterPage');
/** Places of the navigation that are not built yet. */
const LATER: Record<string, LaterPlace> = {
  '/vitto/brain': 'brain',
  '/vitto/maker': 'maker',
  '/vitto/agents': 'experts',
  '/vitto/channels': 'channels',
  '/vitto/conscience': 'conscience',
  '/vitto/triggers': 'triggers',
  '/vitto/memory': 'memory',
  '/vitto/identity': 'identity',
  '/command/integrations': 'integrations',
  '/command/users': 'users',
  '/command/trust': 'trust',
};
const later = Object.entries(LATER).map(([path, place]) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    loader: () => LaterPage.preload?.(),
    component: () => <LaterPage place={place} />,
  }),
);

function page<P extends string, N extends string>(
  path: P,
  load: () => Promise<Record<N, () => React.ReactNode>>,
  name: N,
) {
  return createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load, name) });
}

const places = [
  newConversation,
  conversation,
  inbox,
  agents,
  live,
  system,
  costs,
  audit,
  task,
  settings,
  ...later,
];
const routes = root.addChildren([home, signIn, shell.addChildren(places)]);

export function createAppRouter() {
  return createRouter({
    routeTree: routes,
    scrollRestoration: false,
    defaultPreload: 'intent',
    // Each page has a boundary of its own: what breaks in one leaves the rail and the way to the others.
    defaultErrorComponent: CrashedPage,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
