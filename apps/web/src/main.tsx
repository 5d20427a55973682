import './styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/api-error.ts';
import { ApiClient } from './api/client.ts';
import { EventStream } from './api/event-stream.ts';
import { followOtherTabs, noteSignedOut, SESSION_KEY } from './api/session.ts';
import { VittoApi } from './api/vitto-api.ts';
import { VittoContext } from './api/vitto-context.tsx';
import { createAppRouter } from './router.tsx';
import { PreferencesProvider } from './shell/preferences.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      refetchOnWindowFocus: false,
    },
  },
});
const client = new ApiClient();
const api = new VittoApi(client);
client.onSignedOut = () => noteSignedOut(queries);
client.refreshSession = async () => {
  queries.setQueryData(SESSION_KEY, await api.readSession());
};
const stream = new EventStream(() => noteSignedOut(queries));
followOtherTabs(queries);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <VittoContext value={{ api, client, stream }}>
        <PreferencesProvider>
          <RouterProvider router={createAppRouter()} />
        </PreferencesProvider>
      </VittoContext>
    </QueryClientProvider>
  </StrictMode>,
);
