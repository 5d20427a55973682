import type { SandboxInfo } from '@vitto/contracts';

type RunningCommand = SandboxInfo['commands'][number];

/** What runs in one machine now, for people to see. Commands are as they were given: whoever shows them masks secrets. */
export class RunningCommands {
  readonly #running = new Set<RunningCommand>();

  /** Until the function that it returns is called. */
  track(taskId: string | null, command: string): () => void {
    const entry = { taskId, command: command.slice(0, 2000), since: new Date().toISOString() };
    this.#running.add(entry);
    return () => this.#running.delete(entry);
  }

  /** The longest first. */
  list(): RunningCommand[] {
    return [...this.#running].map((entry) => ({ ...entry }));
  }
}
