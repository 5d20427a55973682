import { existsSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { GuestError } from '@vitto/contracts';
import { describeError } from '../../../kernel/app-error.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLogger, type Logger } from '../../../kernel/logger.ts';
import { resolveAllowedPaths, type AllowedPaths } from './allowed-paths.ts';
import { placeGuestRuntime, type GuestRuntime } from './guest-runtime.ts';
import { findHostPrograms, type HostPrograms } from './host-programs.ts';
import { candidateLimiters, hintFor, isMemoryHeld, tryBasics, type SandboxProbe } from './probe.ts';
import { ProcessSession } from './process-session.ts';
import type { ResourceLimiter } from './resources/resource-group.ts';
import { DEFAULT_LIMITS, type SandboxLimits } from './sandbox-limits.ts';
import { DEFAULT_UIDS, isServerRoot } from './sandbox-user.ts';
import { SessionStore } from './session-store.ts';

export interface ProcessSandboxOptions {
  /** Folder of the sessions' homes. As root, every user must be able to reach it (not below a 0700 home). */
  root: string;
  /** As root: the range of unprivileged user numbers that sessions run as. */
  runAs?: { first: number; count: number };
  /** A Node.js for the file server inside; the server's own by default. */
  nodeBinary?: string;
  limits?: Partial<SandboxLimits>;
  /** Folders of the server that no sandbox may be shown, whatever the user allows. `root` is always among them. */
  secretFolders?: string[];
  /** For tests: which limiters to try. */
  limiters?: () => ResourceLimiter[];
  logger?: Logger;
}

interface Working {
  programs: HostPrograms;
  runtime: GuestRuntime;
  limiter: ResourceLimiter;
  store: SessionStore;
}

interface OpenSession {
  session: ProcessSession;
  paths: AllowedPaths;
  /** Of the folders that were asked for. */
  key: string;
}

/** How long an answer that the sandbox does not work is kept, so that installing what is missing is noticed. */
const RETRY_MS = 30_000;

/**
 * The degraded mode of the VM tier (specification 02): sessions of tasks in bubblewrap on this machine. Where it does
 * not work, `open` says so by `GuestError` `unavailable`, and nothing ever runs outside it.
 */
export class ProcessSandboxService {
  readonly #options: ProcessSandboxOptions;
  readonly #limits: SandboxLimits;
  readonly #logger: Logger;
  readonly #sessions = new Map<string, Promise<OpenSession>>();
  #probing: { at: number; result: Promise<{ probe: SandboxProbe; working: Working | null }> } | null = null;

  constructor(options: ProcessSandboxOptions) {
    if (!isAbsolute(options.root))
      throw new Error('the root of the process sandbox must be an absolute path');
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logger = options.logger ?? silentLogger;
  }

  /** Whether it works, by running it. Cached; a refusal is looked at again after 30 s. */
  async probe(): Promise<SandboxProbe> {
    return (await this.#probed()).probe;
  }

  /**
   * The session of a task, with the same home as before where there was one. `readOnlyPaths` are host folders that
   * the user allowed; those that cannot be shown are logged and left out (see `refusedPaths`).
   */
  async open(request: { taskId: string; readOnlyPaths: string[] }): Promise<ProcessSession> {
    const { probe, working } = await this.#probed();
    if (working === null)
      throw new GuestError(
        'unavailable',
        probe.reason ?? 'The sandbox is not available.',
        probe.hint ?? undefined,
      );
    const opening = this.#openOrReuse(working, request, this.#sessions.get(request.taskId));
    this.#sessions.set(request.taskId, opening);
    opening.catch(() => {
      if (this.#sessions.get(request.taskId) === opening) this.#sessions.delete(request.taskId);
    });
    return (await opening).session;
  }

  /** Allowed folders of an open session that are not shown in it, and why. */
  async refusedPaths(taskId: string): Promise<AllowedPaths['refused']> {
    return (await this.#sessions.get(taskId))?.paths.refused ?? [];
  }

  /** Ends everything of a task here and removes its files; idempotent. */
  async close(taskId: string): Promise<void> {
    await this.suspend(taskId);
    const { working } = await this.#probed();
    await working?.store.remove(taskId);
  }

  /** Removes the files of tasks that are not live, which a killed server left. Returns how many. */
  async sweep(isLive: (taskId: string) => boolean | Promise<boolean>): Promise<number> {
    const { working } = await this.#probed();
    if (working === null) return 0;
    working.limiter.removeStale();
    let removed = 0;
    for (const taskId of await working.store.taskIds()) {
      if (isProbeOfLiveServer(taskId) || (await isLive(taskId))) continue;
      await this.close(taskId);
      removed += 1;
    }
    return removed;
  }

  /** Ends everything that runs and keeps the files: for a shutdown. */
  async stop(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((taskId) => this.suspend(taskId)));
  }

  /** Ends everything that a task runs here and keeps its files: another process may go on with it. */
  async suspend(taskId: string): Promise<void> {
    const opening = this.#sessions.get(taskId);
    this.#sessions.delete(taskId);
    await opening?.then(
      ({ session }) => session.end(),
      () => undefined,
    );
  }

  /** The session that is open already, unless its files are gone or it shows other folders. */
  async #openOrReuse(
    working: Working,
    { taskId, readOnlyPaths }: { taskId: string; readOnlyPaths: string[] },
    earlier: Promise<OpenSession> | undefined,
  ): Promise<OpenSession> {
    const key = JSON.stringify([...readOnlyPaths].sort());
    const known = await earlier?.catch(() => undefined);
    if (known !== undefined) {
      if (known.key === key && (await working.store.find(taskId))?.sessionId === known.session.id)
        return known;
      await known.session.end();
    }
    const files = await working.store.open(taskId);
    const paths = await resolveAllowedPaths(readOnlyPaths, {
      programs: working.programs,
      user: files.user,
      secretFolders: [this.#options.root, ...(this.#options.secretFolders ?? [])],
    });
    const make = (readOnlyPaths: string[]): ProcessSession =>
      new ProcessSession({ ...working, files, limits: this.#limits, readOnlyPaths });
    await keepMountable(paths, make);
    const session = make(paths.shown);
    for (const refused of paths.refused) {
      this.#logger.warn({ taskId, ...refused }, 'an allowed folder is not shown in the sandbox');
    }
    return { session, paths, key };
  }

  #probed(): Promise<{ probe: SandboxProbe; working: Working | null }> {
    const isFresh = this.#probing !== null && performance.now() - this.#probing.at < RETRY_MS;
    if (this.#probing !== null && isFresh) return this.#probing.result;
    const earlier = this.#probing?.result ?? Promise.resolve({ working: null });
    const result = earlier.then(async (last) =>
      'probe' in last && last.working !== null ? last : this.#runProbe(),
    );
    this.#probing = { at: performance.now(), result };
    return result;
  }

  async #runProbe(): Promise<{ probe: SandboxProbe; working: Working | null }> {
    const runsAs = isServerRoot() ? 'own-user' : 'server-user';
    const refuse = (reason: string, hint: string): { probe: SandboxProbe; working: null } => ({
      probe: { available: false, reason, hint, memoryLimit: null, limitsProcesses: false, runsAs },
      working: null,
    });
    if (process.platform !== 'linux') return refuse('The process sandbox needs Linux.', 'Use a VM provider.');
    const { programs, missing, packages } = findHostPrograms();
    if (missing.length > 0) {
      return refuse(
        `The process sandbox needs ${missing.join(', ')}.`,
        `Install: apt-get install ${packages.join(' ')}`,
      );
    }
    try {
      const working = await this.#findWorking(programs);
      if (typeof working === 'string')
        return refuse(`The process sandbox does not work: ${working}.`, hintFor(working));
      const { kind: memoryLimit, limitsProcesses } = working.limiter;
      return {
        probe: { available: true, reason: null, hint: null, memoryLimit, limitsProcesses, runsAs },
        working,
      };
    } catch (error) {
      const reason = describeError(error);
      return refuse(`The process sandbox does not work: ${reason}`, hintFor(reason));
    }
  }

  async #findWorking(programs: HostPrograms): Promise<Working | string> {
    const {
      root,
      nodeBinary = process.execPath,
      runAs = DEFAULT_UIDS,
      limiters = candidateLimiters,
    } = this.#options;
    await mkdir(root, { recursive: true, mode: 0o711 });
    await chmod(root, 0o711);
    const closed = isServerRoot() ? await closedFolder(root) : null;
    if (closed !== null) return `its users cannot reach ${root}, for ${closed} is closed to them`;
    const store = new SessionStore(root, programs, isServerRoot() ? runAs : null);
    const runtime = await placeGuestRuntime(root, nodeBinary);
    for (const limiter of limiters()) {
      const working = { programs, runtime, limiter, store };
      const taskId = `probe-${process.pid}-${newId()}`;
      const files = await store.open(taskId);
      const session = new ProcessSession({ ...working, files, limits: this.#limits, readOnlyPaths: [] });
      try {
        const reason = await tryBasics(session);
        if (reason !== null) return reason;
        if (await isMemoryHeld(session, this.#limits.memoryBytes)) return working;
        this.#logger.warn(
          { limiter: limiter.kind },
          'a way to limit memory does not hold here; the next one is tried',
        );
      } finally {
        await session.end();
        await store.remove(taskId);
      }
    }
    return 'no way to limit memory holds here';
  }
}

/** Moves folders that bubblewrap cannot show to the refused ones, so that one of them does not cost the whole sandbox. */
async function keepMountable(
  paths: AllowedPaths,
  make: (readOnlyPaths: string[]) => ProcessSession,
): Promise<void> {
  const works = async (shown: string[]): Promise<boolean> => {
    const trial = make(shown);
    return trial
      .exec({ command: 'true', timeoutMs: 10_000 })
      .then(
        () => true,
        () => false,
      )
      .finally(() => trial.end());
  };
  if (paths.shown.length === 0 || (await works(paths.shown))) return;
  const kept: string[] = [];
  for (const path of paths.shown) {
    if (await works([...kept, path])) kept.push(path);
    else paths.refused.push({ path, reason: 'it cannot be shown in the sandbox' });
  }
  paths.shown = kept;
}

/** Another server on this machine may be probing just now. */
function isProbeOfLiveServer(taskId: string): boolean {
  const pid = /^probe-(\d+)-/.exec(taskId)?.[1];
  return pid !== undefined && existsSync(`/proc/${pid}`);
}

/** The folder on the way to `path` that not every user may pass; `null` when there is none. */
async function closedFolder(path: string): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return folder;
    if (folder === '/') return null;
  }
}
