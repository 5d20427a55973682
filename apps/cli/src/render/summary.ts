import type { ArtifactRef, KnownEvent, Spending } from '@vitto/contracts';
import { commandLine } from '../command-line.ts';
import { formatCost, formatCount, formatDuration } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

export type EndEvent = Extract<KnownEvent, { type: 'task.completed' | 'task.failed' | 'task.cancelled' }>;

/** What a finished task made and what it took. */
export function summaryOf(event: EndEvent, isScripted: boolean): string[] {
  const artifacts = event.type === 'task.completed' ? (event.payload.artifacts ?? []) : [];
  return [
    ...artifacts.map(describeArtifact),
    ...(event.payload.spending === undefined ? [] : [describeSpending(event.payload.spending, isScripted)]),
  ];
}

export function describeSpending(spending: Spending, isScripted = false): string {
  return [
    formatCount(spending.iterations, 'step'),
    formatCount(spending.tokens, 'token'),
    formatCost(spending.costUsd),
    `${formatDuration(spending.durationMs)} at work`,
    ...(isScripted ? ['scripted'] : []),
  ].join(' · ');
}

export function describeArtifact(artifact: ArtifactRef): string {
  const size = formatCount(artifact.bytes, 'byte');
  return toPlainLine(
    `File: ${artifact.name} (${artifact.mediaType}, ${size}); ${commandLine(`artifact ${artifact.id}`)}`,
  );
}
