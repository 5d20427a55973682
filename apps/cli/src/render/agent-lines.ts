import type { KnownEvent } from '@vitto/contracts';
import { formatCost, formatDuration, shortId } from '../text/format.ts';

type AgentEvent = Extract<
  KnownEvent,
  {
    type:
      | 'orchestrator.round'
      | 'subvitto.spawned'
      | 'subvitto.vm_acquired'
      | 'subvitto.vm_degraded'
      | 'subvitto.completed'
      | 'subvitto.failed';
  }
>;

/** Of a report or a task, in UTF-16 units: the whole of it is one `vitto show` away. */
const TEXT_MAX = 160;

/**
 * What a task's journal tells of those that it has deployed, a line each. They work side by side, so each line begins
 * with the end of an id, as `vitto show` takes it.
 */
export function describeAgent(event: AgentEvent): string {
  switch (event.type) {
    case 'orchestrator.round': {
      const { roundNumber, maxRounds, subTaskIds } = event.payload;
      const of = maxRounds === undefined ? '' : ` of ${maxRounds}`;
      const count = subTaskIds.length;
      return `Round ${roundNumber}${of}: deploying ${count === 1 ? '1 agent' : `${count} agents`}`;
    }
    case 'subvitto.spawned': {
      const { id, role, tier, title, description, dependsOn = [] } = event.payload;
      const after = dependsOn.length === 0 ? '' : `, after ${dependsOn.map(shortId).join(' and ')}`;
      return `Agent ${shortId(id)} (${role ?? 'no role'}, ${tier}${after}): ${toBeginning(title ?? description)}`;
    }
    case 'subvitto.vm_acquired': {
      const { id, from, restored, acquireTimeMs } = event.payload;
      const how =
        from === 'session'
          ? 'shared'
          : `${restored ? 'restored' : 'booted'} in ${formatDuration(acquireTimeMs)}`;
      return `Agent ${shortId(id)}: VM ${how}`;
    }
    case 'subvitto.vm_degraded': {
      const { id, reason, fallbackTier } = event.payload;
      return `Degraded: agent ${shortId(id)} got no VM (${reason}); it runs in ${fallbackTier}.`;
    }
    case 'subvitto.completed': {
      const { id, success, duration, cost, result } = event.payload;
      const spent = `${formatDuration(duration)}, ${formatCost(cost)}`;
      return `Agent ${shortId(id)} ${success ? 'done' : 'not achieved'} (${spent}): ${toBeginning(result)}`;
    }
    case 'subvitto.failed': {
      const { id, status = 'failed', duration, error } = event.payload;
      const spent = duration === undefined ? '' : ` (${formatDuration(duration)})`;
      return `Agent ${shortId(id)} ${ENDS[status]}${spent}: ${error}`;
    }
  }
}

const ENDS = { failed: 'failed', cancelled: 'stopped', timeout: 'timed out' };

function toBeginning(text: string): string {
  const line = text.trim().replace(/\s+/gu, ' ');
  return line.length <= TEXT_MAX ? line : `${line.slice(0, TEXT_MAX - 1).toWellFormed()}…`;
}
