/** What a command of the fake guest comes to. */
export interface FakeOutcome {
  exitCode: number;
  stdout?: string;
  stderr?: string;
}

/** A command as the fake agent was asked to run it. */
export interface FakeCommand {
  /** The shell line of `/bin/sh -c LINE`, else the arguments joined. */
  line: string;
  argv: string[];
  guest: FakeGuest;
  /** Aborted when the command is stopped or passes its time limit. */
  signal: AbortSignal;
}

/** Runs a command; `null`: not one of mine. */
export type FakeShell = (command: FakeCommand) => FakeOutcome | Promise<FakeOutcome> | null;

/** What is on a fake machine's disk and in its memory. Survives snapshots by `copy`, loses `memory` when it boots. */
export class FakeGuest {
  /** The disk: contents by absolute path. */
  readonly files = new Map<string, Buffer>();
  /** Records of commands by name. `outcome` is `null` while one runs. */
  readonly records = new Map<string, { stdout: string; stderr: string; outcome: FakeOutcome | null }>();
  /** Gone when the machine boots: by any name, for tests to see what a snapshot keeps. */
  readonly memory = new Map<string, string>();
  /** Calls of RESUME since it started: no command runs before the first. */
  resumes = 0;
  bootedAt = performance.now();
  /** By how much its clock stays wrong, whatever it is set to; a boot mends it. */
  clockOffSeconds = 0;

  /** The same machine, `how`: with its memory, or booted from its disk. */
  copy(how: 'with-memory' | 'disk'): FakeGuest {
    const guest = new FakeGuest();
    for (const [path, content] of this.files) guest.files.set(path, Buffer.from(content));
    for (const [name, record] of this.records) guest.records.set(name, { ...record });
    if (how === 'with-memory') {
      guest.bootedAt = this.bootedAt;
      guest.clockOffSeconds = this.clockOffSeconds;
      for (const [name, value] of this.memory) guest.memory.set(name, value);
    }
    return guest;
  }

  get bytes(): number {
    return [...this.files.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

/** The few commands that a fake guest knows by itself. `hang` runs until it is stopped. */
export const basicShell: FakeShell = ({ line, guest, signal }) => {
  const [, name = '', rest = ''] = /^(\S+) ?(.*)$/s.exec(line.trim()) ?? [];
  if (name === 'true') return { exitCode: 0 };
  if (name === 'false') return { exitCode: 1 };
  if (name === 'echo') return { exitCode: 0, stdout: `${rest}\n` };
  if (name === 'remember') {
    guest.memory.set('word', rest);
    return { exitCode: 0 };
  }
  if (name === 'recall') return { exitCode: 0, stdout: `${guest.memory.get('word') ?? ''}\n` };
  if (name === 'write') {
    const [, path = '', word = ''] = /^(\S+) (.*)$/s.exec(rest) ?? [];
    guest.files.set(path, Buffer.from(`${word}\n`));
    return { exitCode: 0 };
  }
  if (name === 'hang') {
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ exitCode: -1 }), { once: true }),
    );
  }
  if (name === 'cat') {
    const content = guest.files.get(rest);
    return content === undefined
      ? { exitCode: 1, stderr: `cat: ${rest}: No such file or directory\n` }
      : { exitCode: 0, stdout: content.toString() };
  }
  return { exitCode: 127, stderr: `sh: 1: ${name}: not found\n` };
};
