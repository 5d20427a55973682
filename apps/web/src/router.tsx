import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import { ConversationPage } from './features/chat/conversation-page.tsx';
import { NewConversationPage } from './features/chat/new-conversation-page.tsx';
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
  component: ConversationRoute,
});

function ConversationRoute() {
  const { conversationId } = conversation.useParams();
  return <ConversationPage key={conversationId} id={conversationId} />;
}

const routes = root.addChildren([home, signIn, shell.addChildren([newConversation, conversation])]);

export function createAppRouter() {
  return createRouter({ routeTree: routes, scrollRestoration: false, defaultPreload: false });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
