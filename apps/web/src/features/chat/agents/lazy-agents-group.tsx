import { lazy, Suspense } from 'react';
import { estimateGroupHeight, type AgentsItem } from '../model/agents-item.ts';

const AgentsGroup = lazy(async () => ({ default: (await import('./agents-group.tsx')).AgentsGroup }));

/** Below this many pixels the rows have a line more: Tailwind's `sm`. */
const NARROW = 640;

/** Most conversations deploy nobody: the group is loaded with the first one that does. */
export function LazyAgentsGroup({ item }: { item: AgentsItem }) {
  return (
    <Suspense
      fallback={
        <div
          className="rounded-lg border border-line bg-surface"
          aria-busy="true"
          style={{ height: estimateGroupHeight(item, window.innerWidth < NARROW) }}
        />
      }
    >
      <AgentsGroup item={item} />
    </Suspense>
  );
}
