import type { Problem } from '@vitto/contracts';
import type { RunDependencies } from '../runs/index.ts';
import type { TaskFeed } from './task-feed/task-feed.ts';

/** What the doors for other programs need: `/mcp` and `/v1`. */
export interface DoorDependencies {
  runs: RunDependencies;
  feed: TaskFeed;
  version: string;
  /** Where people open Vitto: links lead there. */
  publicUrl: string;
  /** The main models of a user's tasks, in the order they are tried, as `provider/model`. */
  listMainModels: (userId: string) => Promise<string[]>;
  /** What is told of anything thrown: a defect says no more than that it is one. */
  toProblem: (error: unknown) => Problem;
  /** A comment in this time keeps a stream alive, in milliseconds. */
  keepAliveMs?: number;
}
