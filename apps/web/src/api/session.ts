import type { Me } from '@vitto/contracts';
import { useQuery, type QueryClient } from '@tanstack/react-query';
import { useVitto } from './vitto-context.tsx';

export const SESSION_KEY = ['session'] as const;

/** Tells the other tabs that someone has signed in or out. */
const tabs = new BroadcastChannel('vitto.session');

export function tellOtherTabs(): void {
  tabs.postMessage('changed');
}

export function followOtherTabs(queries: QueryClient): void {
  tabs.addEventListener('message', () => void queries.invalidateQueries({ queryKey: SESSION_KEY }));
}

/** Notes that the server has answered 401: the page keeps what it shows and asks for a new sign-in. */
export function noteSignedOut(queries: QueryClient): void {
  queries.setQueryData<Me | null>(SESSION_KEY, null);
}

/** Who is signed in: `undefined` until it is known, `null` for nobody. */
export function useSession() {
  const { api } = useVitto();
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => api.readSession(signal),
    staleTime: 60_000,
    refetchOnWindowFocus: (query) => query.state.data === null || query.state.status === 'error',
  });
}
