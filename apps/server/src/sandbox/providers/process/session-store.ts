import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GuestError } from '@vitto/contracts';
import { newId } from '../../../kernel/ids.ts';
import type { HostPrograms } from './host-programs.ts';
import { asSandboxUser, type SandboxUser } from './sandbox-user.ts';

const run = promisify(execFile);
const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** The files of one session on the host. */
export interface SessionFiles {
  /** Persisted beside the home: a home made anew has a new one. */
  sessionId: string;
  folder: string;
  home: string;
  tmp: string;
  user: SandboxUser;
}

/** Homes of sessions below `root/TASK_ID`, found again by a restarted server and by other processes on the machine. */
export class SessionStore {
  readonly #root: string;
  readonly #programs: HostPrograms;
  readonly #uids: { first: number; count: number } | null;

  /** `uids`: the range that sessions' users are taken from; `null`: all run as the server's own user. */
  constructor(root: string, programs: HostPrograms, uids: { first: number; count: number } | null) {
    this.#root = root;
    this.#programs = programs;
    this.#uids = uids;
  }

  /** Opens the session's files, making them where there are none. */
  async open(taskId: string): Promise<SessionFiles> {
    const folder = this.#folder(taskId);
    const known = await this.find(taskId);
    if (known !== null) return known;
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await chmod(folder, 0o711);
    const user = this.#uids === null ? null : await this.#freeUser(this.#uids);
    for (const path of [join(folder, 'home'), join(folder, 'tmp')]) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      if (user !== null) await chown(path, user.uid, user.gid);
    }
    // Whoever writes this file first has opened the session; another process that raced here reads it.
    await writeFile(join(folder, 'session.json'), JSON.stringify({ sessionId: newId(), user }), {
      flag: 'wx',
      mode: 0o600,
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const files = await this.find(taskId);
    if (files === null)
      throw new GuestError('session-lost', 'The files of this session went away while it was opened.');
    if (files.user !== null) {
      await Promise.all(
        [files.home, files.tmp].map((path) => chown(path, files.user?.uid ?? 0, files.user?.gid ?? 0)),
      );
    }
    return files;
  }

  /** The session's files when they are whole, else `null`. */
  async find(taskId: string): Promise<SessionFiles | null> {
    const folder = this.#folder(taskId);
    try {
      const { sessionId, user } = JSON.parse(await readFile(join(folder, 'session.json'), 'utf8')) as {
        sessionId: string;
        user: SandboxUser;
      };
      const files = { sessionId, user, folder, home: join(folder, 'home'), tmp: join(folder, 'tmp') };
      const isWhole = (await lstat(files.home)).isDirectory() && (await lstat(files.tmp)).isDirectory();
      return isWhole ? files : null;
    } catch {
      return null;
    }
  }

  /**
   * Removes everything of a session; idempotent. Nothing of it may be running. What the sandbox's user made is
   * removed as that user, so that no trick with links can lead a privileged removal astray.
   */
  async remove(taskId: string): Promise<void> {
    const folder = this.#folder(taskId);
    const files = await this.find(taskId);
    if (files !== null) await this.#emptyAsUser(files);
    await rm(join(folder, 'session.json'), { force: true });
    for (const name of ['home', 'tmp']) await rmdir(join(folder, name)).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }

  /** Every task that has files here. */
  async taskIds(): Promise<string[]> {
    const names = await readdir(this.#root).catch(() => []);
    return names.filter((name) => TASK_ID.test(name));
  }

  async #emptyAsUser({ home, tmp, user }: SessionFiles): Promise<void> {
    const { rm: remove, chmod: changeMode } = this.#programs;
    const [file = '', ...drop] = asSandboxUser(this.#programs, user);
    const asUser = (...args: string[]): Promise<unknown> =>
      // `rm` complains that it may not remove the folder itself; whether that is empty now is what counts.
      run(file, [...drop, ...args], { env: {}, cwd: '/' }).catch(() => undefined);
    for (const folder of [home, tmp]) {
      await asUser(remove, '-rf', '--', folder);
      if (await isGone(folder)) continue;
      // Folders without permissions refused the first try.
      await asUser(changeMode, '-R', 'u+rwx', '--', folder);
      await asUser(remove, '-rf', '--', folder);
    }
  }

  async #freeUser({ first, count }: { first: number; count: number }): Promise<NonNullable<SandboxUser>> {
    const used = new Set<number>();
    for (const taskId of await this.taskIds()) {
      const uid = await lstat(join(this.#root, taskId, 'home')).then(
        (stats) => stats.uid,
        () => undefined,
      );
      if (uid !== undefined) used.add(uid);
    }
    const free = Array.from({ length: count }, (_, index) => first + index).find((uid) => !used.has(uid));
    // With all in use two sessions share one; their namespaces still keep them apart.
    const uid = free ?? first + (used.size % count);
    return { uid, gid: uid };
  }

  #folder(taskId: string): string {
    if (!TASK_ID.test(taskId))
      throw new GuestError('bad-path', `Not the id of a task: ${JSON.stringify(taskId)}`);
    return join(this.#root, taskId);
  }
}

/** Removes a folder that is empty; false when it is not. */
async function isGone(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
