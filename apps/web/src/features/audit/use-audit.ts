import { auditEntry, page } from '@vitto/contracts';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { useVitto } from '../../api/vitto-context.tsx';
import { useUrlText } from '../../components/use-url-word.ts';
import { toAuditQuery, type AuditFilter } from './audit-query.ts';

const entryPage = page(auditEntry);
const actionList = z.object({ items: z.array(z.string()) });

/** What is searched for; it stands in the address. */
export function useAuditFilter() {
  const [text, setText] = useUrlText('q');
  const [action, setAction] = useUrlText('action');
  const [from, setFrom] = useUrlText('from');
  const [to, setTo] = useUrlText('to');
  return { text, setText, action, setAction, from, setFrom, to, setTo };
}

/** The entries that fit, newest first, a page at a time. */
export function useAudit({ text, action, from, to }: AuditFilter) {
  const { client } = useVitto();
  return useInfiniteQuery({
    queryKey: ['audit', text, action, from, to],
    queryFn: ({ pageParam, signal }) => {
      const query = toAuditQuery({ text, action, from, to }, pageParam);
      return client.send({ path: `/audit?${query}`, schema: entryPage, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    // Whoever comes back wants to see what was done meanwhile.
    staleTime: 0,
  });
}

export function useAuditActions(): readonly string[] {
  const { client } = useVitto();
  const actions = useQuery({
    queryKey: ['audit-actions'],
    queryFn: ({ signal }) => client.send({ path: '/audit/actions', schema: actionList, signal }),
  });
  return actions.data?.items ?? [];
}
