import { z } from 'zod';

/** Inputs that several guest tools share. Paths are checked by the guest, which says what is wrong with them. */
export const path = z
  .string()
  .describe('Absolute, or relative to the home folder. Names with \\xNN are used as list_files gave them.');

export const command = z.string().min(1).describe('A shell command line, run by /bin/sh -c.');
export const cwd = z.string().optional().describe('Working directory; the home folder by default.');
export const env = z.record(z.string(), z.string()).optional().describe('Environment variables to add.');

/** Milliseconds (specification 02, "Guest access"). */
export const TIME_LIMITS = { command: 300_000, search: 60_000, file: 10_000 } as const;

/** What a tool's own limit leaves to the guest to end in order, so that a partial result still comes. */
export const MARGIN_MS = 15_000;
