import type { EventEnvelope } from '@vitto/contracts';

/** An event as bytes of the stream, made once for all who listen. */
export interface Frame {
  position: number;
  taskId: string;
  /** True when it is the last that its task's owner writes. */
  isEnd: boolean;
  bytes: Buffer;
}

const END_TYPES = new Set(['task.completed', 'task.failed', 'task.cancelled']);

/** JSON holds no line break, so an event is one `data:` line. It has no `event:` name: the type stands in the envelope. */
export function toFrame(event: EventEnvelope): Frame {
  return {
    position: event.position,
    taskId: event.taskId,
    isEnd: END_TYPES.has(event.type),
    bytes: Buffer.from(`id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`),
  };
}

/** A run of frames joined for one write. */
export interface Batch {
  bytes: Buffer;
  /** Everything up to here has been sent once these bytes are. */
  position: number;
  hasEnd: boolean;
}

/** Joins frames of one task, or of all (`null`); `position` is where the run ends when it holds none of that task. */
export function joinFrames(frames: Frame[], taskId: string | null, position: number): Batch {
  const wanted = taskId === null ? frames : frames.filter((frame) => frame.taskId === taskId);
  return {
    bytes: Buffer.concat(wanted.map((frame) => frame.bytes)),
    position,
    hasEnd: taskId !== null && wanted.some((frame) => frame.isEnd),
  };
}
