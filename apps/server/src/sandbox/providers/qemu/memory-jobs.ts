import { z } from 'zod';

/** A part of a guest's memory as a snapshot keeps it: filled pages one after another, in chunks of 1 MiB at most. */
export const memoryPart = z.object({
  file: z.string().regex(/^ram\.\d$/),
  bytes: z.number().int().nonnegative(),
  /** CRC-32 of the chunk, and where its bytes belong in memory: offset, length, offset, length, … */
  chunks: z.array(z.tuple([z.number().int(), z.array(z.number().int().nonnegative())])),
});
export type MemoryPart = z.infer<typeof memoryPart>;

export type WorkerJob =
  | { kind: 'pack'; memory: string; from: number; to: number; target: string }
  | { kind: 'unpack'; source: string; memory: string; part: MemoryPart }
  | { kind: 'checksum'; path: string }
  /** `to` is there already, and empty. */
  | { kind: 'copy'; path: string; to: string };

export interface WorkerAnswer {
  id: number;
  result?: unknown;
  error?: { message: string; code: string | undefined };
}
