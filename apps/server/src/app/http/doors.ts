import type { Problem } from '@vitto/contracts';
import {
  addMcpRoute,
  addOpenAiRoutes,
  isOpenAiPath,
  TaskFeed,
  toJsonRpcError,
  toOpenAiError,
  type DoorDependencies,
  type WebApp,
} from '../../channels/index.ts';
import { newId } from '../../kernel/ids.ts';
import type { SignalBus } from '../../kernel/signal-bus.ts';
import { toProblem } from './problem.ts';
import type { EventReads } from './streams/event-hub.ts';

/** What comes in by a door is shown with its name. */
export type Door = 'mcp' | 'openai';

/** The door that a path belongs to: there only tokens are taken, never cookies. */
export function doorOf(path: string): Door | null {
  if (isOpenAiPath(path)) return 'openai';
  return /^\/mcp(?:[/?]|$)/.test(path) ? 'mcp' : null;
}

/** The doors for other programs: `/mcp` and `/v1`. The feed ends with the server. */
export function addDoors(
  app: WebApp,
  deps: Omit<DoorDependencies, 'feed' | 'toProblem'> & { signals: Pick<SignalBus, 'listen'> },
  reads: EventReads,
): TaskFeed {
  const feed = new TaskFeed({ signals: deps.signals, reads });
  app.addHook('preClose', async () => feed.close());
  const doors = {
    ...deps,
    feed,
    toProblem: (error: unknown) => toProblem(error, newId()).problem,
  };
  addOpenAiRoutes(app, doors);
  addMcpRoute(app, doors);
  return feed;
}

/** A problem in the format that the clients of a door read. */
export function toDoorError(door: Door, problem: Problem): { status: number; body: unknown } {
  if (door === 'openai') return toOpenAiError(problem);
  return { status: problem.status, body: toJsonRpcError(problem) };
}
