import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { VittoApi } from './vitto-api.ts';

/** What is asked of the server and kept for a while, by key. Conversations live in their own stores. */

export const CONVERSATIONS_KEY = ['conversations'] as const;

export function conversationsQuery(api: VittoApi) {
  return infiniteQueryOptions({
    queryKey: CONVERSATIONS_KEY,
    queryFn: ({ pageParam }) => api.listConversations(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

export function conversationQuery(api: VittoApi, id: string) {
  return queryOptions({ queryKey: ['conversation', id], queryFn: () => api.readConversation(id) });
}

export function systemQuery(api: VittoApi) {
  return queryOptions({ queryKey: ['system'], queryFn: () => api.readSystem(), staleTime: 30_000 });
}

export function settingsQuery(api: VittoApi) {
  return queryOptions({ queryKey: ['settings'], queryFn: () => api.readSettings(), staleTime: 300_000 });
}

export function taskQuery(api: VittoApi, id: string) {
  return queryOptions({ queryKey: ['task', id], queryFn: () => api.readTask(id) });
}
