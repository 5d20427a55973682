import { approval, page, task, type Approval, type Task } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import type { ApiClient } from '../../api/client.ts';
import type { EventStream } from '../../api/event-stream.ts';
import { useSession } from '../../api/session.ts';
import { useRefreshOnEvents } from '../../api/use-refresh-on-events.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { orderEntries, type InboxEntry } from './inbox-entry.ts';

export const INBOX_KEY = ['inbox'] as const;

/** What waits for the person: as many as one page of each list holds. */
export interface Inbox {
  entries: readonly InboxEntry[];
  hasMore: boolean;
}

const LIMIT = 200;
const approvalPage = page(approval);
const taskPage = page(task);

/** One request for the count in the rail and for the page. */
export function useInbox() {
  const { client } = useVitto();
  const session = useSession();
  return useQuery({
    queryKey: INBOX_KEY,
    queryFn: ({ signal }) => readInbox(client, signal),
    enabled: session.data != null,
    staleTime: 60_000,
  });
}

async function readInbox(client: ApiClient, signal: AbortSignal): Promise<Inbox> {
  const [approvals, asking] = await Promise.all([
    client.send({ path: `/approvals?state=pending&limit=${LIMIT}`, schema: approvalPage, signal }),
    client.send({ path: `/tasks?state=waiting_input&limit=${LIMIT}`, schema: taskPage, signal }),
  ]);
  return {
    entries: orderEntries([
      ...approvals.items.map(toApprovalEntry),
      ...asking.items.flatMap(toQuestionEntry),
    ]),
    hasMore: approvals.nextCursor !== null || asking.nextCursor !== null,
  };
}

function toApprovalEntry(asked: Approval): InboxEntry {
  return { kind: 'approval', id: asked.id, taskId: asked.taskId, at: asked.createdAt, approval: asked };
}

function toQuestionEntry(asking: Task): InboxEntry[] {
  const { waitingFor } = asking;
  if (waitingFor?.kind !== 'input') return [];
  const { callId, question, choices = [] } = waitingFor;
  return [
    {
      kind: 'question',
      id: `${asking.id}:${callId}`,
      taskId: asking.id,
      at: asking.createdAt,
      task: asking,
      callId,
      question,
      choices,
    },
  ];
}

/** What can add to the inbox or take from it. */
const MOVES = new Set([
  'approval.requested',
  'approval.decided',
  'task.parked',
  'task.resumed',
  'task.queued',
  'task.completed',
  'task.failed',
  'task.cancelled',
]);

/** Keeps the inbox true while the app is open. */
export function useInboxRefresh(stream: EventStream): void {
  useRefreshOnEvents(stream, MOVES, INBOX_KEY);
}
