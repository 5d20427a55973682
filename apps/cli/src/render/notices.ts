import type { KnownEvent } from '@vitto/contracts';
import type { ConnectionState } from '../event-stream.ts';
import { formatCost, formatDuration } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { describeAgent } from './agent-lines.ts';

/** What a person is told of an event that is neither text nor a call; `null`: nothing. */
export interface Notice {
  text: string;
  /** True for what must be seen even where nobody reads along: less was done, or it was done in another way. */
  isImportant: boolean;
}

export function noticeOf(event: KnownEvent): Notice | null {
  const text = describe(event);
  return text === null ? null : { text: toPlainLine(text), isImportant: IMPORTANT.has(event.type) };
}

const IMPORTANT = new Set<string>([
  'vm.degraded',
  'subvitto.vm_degraded',
  'model.fallback',
  'budget.exceeded',
  'task.stuck',
  'vm.lost',
]);

const BUDGETS = { iterations: 'steps', tokens: 'tokens', cost: 'money', duration: 'time' };
export const ORIGINS = {
  session: 'that was running',
  'user-snapshot': 'restored from your snapshot',
  'user-disk': 'started from your disk',
  'base-snapshot': "made from the image's snapshot",
  boot: 'booted from the image',
} as const;
const RETRY_REASONS: Record<string, string> = {
  'rate-limit': 'asks to wait',
  overloaded: 'is overloaded',
  server: 'had a fault',
  network: 'could not be reached',
  stalled: 'went silent',
  cut: 'broke off',
};

function describe(event: KnownEvent): string | null {
  switch (event.type) {
    case 'model.retry': {
      const { model, reason, delayMs } = event.payload;
      return `${model} ${RETRY_REASONS[reason] ?? `failed (${reason})`}; next try in ${formatDuration(delayMs)}. What it said in this step does not count.`;
    }
    case 'model.fallback':
      return `Degraded: ${event.payload.to} answers instead of ${event.payload.from} (${event.payload.reason}).`;
    case 'vm.degraded':
      return `Degraded: no VM (${event.payload.reason}); it runs in ${event.payload.fallbackTier}.`;
    case 'vm.waiting':
      return `Waiting for a VM, place ${event.payload.place}: ${event.payload.reason}`;
    case 'vm.acquired': {
      const { from, acquireTimeMs, template, notices = [] } = event.payload;
      const how = from === undefined ? '' : ` ${ORIGINS[from]}`;
      const time = acquireTimeMs === undefined ? '' : `, in ${formatDuration(acquireTimeMs)}`;
      return [`VM${template === undefined ? '' : ` (${template})`}${how}${time}.`, ...notices].join(' ');
    }
    case 'vm.lost':
      return `The VM was lost${event.payload.reason === undefined ? '' : ` (${event.payload.reason})`}.`;
    case 'budget.exceeded': {
      const { budget, limit, spent } = event.payload;
      const [used, of] =
        budget === 'cost'
          ? [formatCost(spent), formatCost(limit)]
          : budget === 'duration'
            ? [formatDuration(spent), formatDuration(limit)]
            : [spent, limit];
      return `The budget of ${BUDGETS[budget]} is used up: ${used} of ${of}.`;
    }
    case 'task.stuck':
      return `It goes round in circles (${event.payload.pattern}): ${event.payload.note}`;
    case 'approval.decided':
      return `The approval was decided: ${event.payload.decision}, by ${event.payload.by}${event.payload.note === undefined ? '' : ` ("${event.payload.note}")`}.`;
    case 'task.resumed':
      return event.payload.discardedTurn == null
        ? null
        : 'The work goes on after a break; the step that broke off is done again.';
    case 'orchestrator.round':
    case 'subvitto.spawned':
    case 'subvitto.vm_acquired':
    case 'subvitto.vm_degraded':
    case 'subvitto.completed':
    case 'subvitto.failed':
      return describeAgent(event);
    default:
      return null;
  }
}

export const CONNECTION_NOTES: Record<ConnectionState, string> = {
  lost: 'The connection is lost; reconnecting.',
  restored: 'Connected again.',
  'set-back':
    "The server's journal was set back (a restored backup): what follows may repeat or miss something.",
};
