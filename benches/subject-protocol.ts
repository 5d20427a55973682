import { createInterface } from 'node:readline';

/** What a measured loop says of itself before its first run. */
export interface SubjectInfo {
  name: string;
  /** Package and version; `null` where there is nothing to name. */
  version: string | null;
  /** What has been written, and where, when a step is over. */
  persists: string;
}

/** One run of `steps` tool-call steps and a final answer. */
export interface RunOutcome {
  /** How often the tool was run. */
  toolCalls: number;
  /** The final answer. */
  text: string;
  /** Statements sent to the database; absent without one. */
  statements?: number;
}

export interface Subject {
  info: SubjectInfo;
  run: (steps: number) => Promise<RunOutcome>;
  close?: () => Promise<void>;
}

/** A line from the child to the bench. */
export type SubjectLine =
  | { type: 'ready'; info: SubjectInfo }
  /** `cpuMs`: user and system time of the child alone, without the database. */
  | { type: 'run'; ms: number; cpuMs: number; outcome: RunOutcome }
  | { type: 'failed'; message: string };

/**
 * The child's side: says `ready`, then makes one run for each line `{"steps":N}` on standard input and prints its time
 * as a JSON line. Ends when the input does. What libraries print goes to standard error, so that it breaks no line.
 */
export async function serveSubject(open: () => Promise<Subject>): Promise<void> {
  const write = process.stdout.write.bind(process.stdout);
  const say = (line: SubjectLine) => write(`${JSON.stringify(line)}\n`);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    const subject = await open();
    say({ type: 'ready', info: subject.info });
    for await (const line of createInterface({ input: process.stdin })) {
      const { steps } = JSON.parse(line) as { steps: number };
      const cpu = process.cpuUsage();
      const started = performance.now();
      const outcome = await subject.run(steps);
      const ms = performance.now() - started;
      const { user, system } = process.cpuUsage(cpu);
      say({ type: 'run', ms, cpuMs: (user + system) / 1000, outcome });
    }
    await subject.close?.();
    process.exit(0);
  } catch (error) {
    say({ type: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.exitCode = 1;
    process.stdin.destroy();
  }
}
