import type { ArtifactRef, EventEnvelope, KnownEvent } from '@vitto/contracts';
import { readKnownEvent } from '@vitto/contracts';
import { formatCost, formatCount, formatDuration } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { noticeOf } from './notices.ts';
import { describeCall, toolCard } from './tool-card.ts';

/** A task's story, a line a step. */
export function describeSteps(events: EventEnvelope[]): string[] {
  const calls = new Map<string, string>();
  return events.flatMap((envelope) => {
    const event = readKnownEvent(envelope);
    const line = event === null ? null : describeStep(event, calls);
    return line === null ? [] : [line];
  });
}

function describeStep(event: KnownEvent, calls: Map<string, string>): string | null {
  switch (event.type) {
    case 'agent.turn_completed': {
      const { turn, model, usage, costUsd, durationMs } = event.payload;
      const tokens = formatCount(usage.inputTokens + usage.outputTokens, 'token');
      const cost = formatCost(costUsd);
      return toPlainLine(`${turn}. ${model} · ${tokens} · ${cost} · ${formatDuration(durationMs)}`);
    }
    case 'tool.starting':
      calls.set(event.payload.callId, describeCall(event.payload.tool, event.payload.arguments));
      return null;
    case 'tool.called': {
      const { callId, tool } = event.payload;
      return `   ${toolCard(event.payload, calls.get(callId) ?? describeCall(tool, undefined))}`;
    }
    default: {
      const notice = noticeOf(event);
      return notice === null ? null : `   ${notice.text}`;
    }
  }
}

/** Every file that a task has made, once. */
export function collectArtifacts(events: EventEnvelope[]): ArtifactRef[] {
  const found = new Map<string, ArtifactRef>();
  for (const envelope of events) {
    const event = readKnownEvent(envelope);
    if (event?.type !== 'tool.called' && event?.type !== 'task.completed') continue;
    for (const artifact of event.payload.artifacts ?? []) found.set(artifact.id, artifact);
  }
  return [...found.values()];
}
