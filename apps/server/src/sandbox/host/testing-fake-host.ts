import { PassThrough, type Duplex } from 'node:stream';
import {
  GuestError,
  type CreatedSandbox,
  type ExecRequest,
  type ExecResult,
  type NetworkPolicy,
  type SandboxCaller,
  type SandboxHostInfo,
  type SandboxInfo,
  type SandboxOrigin,
  type UserSandbox,
  type VmGuestSession,
} from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import { OutputCapture } from '../guest/captured-output.ts';
import type { AcquireRequest, Releaser, RepositoryGrant, SandboxHost } from './sandbox-host.ts';

/** A sandbox host in memory, for what stands between hosts and those who ask them. Its commands are what `run` says. */
export class FakeSandboxHost implements SandboxHost {
  readonly url = null;
  readonly id: string;
  readonly sandboxes = new Map<string, SandboxInfo>();
  readonly files = new Map<string, string>();
  /** Every call by its name with what it was given, in order. */
  readonly calls: [string, unknown][] = [];
  info_: Partial<SandboxHostInfo> = {};
  /** What a command does. */
  run: (request: ExecRequest, print: (text: string | Uint8Array) => Promise<void>) => Promise<number> =
    async (request, print) => {
      await print(`${request.command}\n`);
      return 0;
    };
  /** How a machine comes that is there already. */
  comesBackFrom: SandboxOrigin = 'session';
  beforeAcquire: (request: AcquireRequest) => Promise<void> | void = () => undefined;

  constructor(id = 'fake-host') {
    this.id = id;
  }

  async info(): Promise<SandboxHostInfo> {
    return {
      id: this.id,
      name: this.id,
      url: null,
      isReachable: true,
      provider: 'fake',
      accelerator: 'tcg',
      version: 'fake',
      reason: null,
      hint: null,
      running: this.sandboxes.size,
      waiting: 0,
      maxConcurrent: 4,
      memory: null,
      images: [],
      ...this.info_,
    };
  }

  async list(userId?: string): Promise<SandboxInfo[]> {
    return [...this.sandboxes.values()].filter((one) => userId === undefined || one.userId === userId);
  }

  async userSandbox(userId: string): Promise<UserSandbox> {
    const [one] = await this.list(userId);
    const age = one?.snapshot === null || one === undefined ? null : 1;
    return {
      exists: one !== undefined,
      state: one?.state ?? null,
      snapshotAgeDays: age,
      template: one?.template ?? null,
      bytes: one?.diskBytes ?? 0,
    };
  }

  async acquire(request: AcquireRequest): Promise<CreatedSandbox> {
    const { onWaiting: _, signal: __, ...plain } = request;
    this.calls.push(['acquire', plain]);
    await this.beforeAcquire(request);
    const known = (await this.list(request.userId)).find(({ template }) => template === request.template);
    const sandbox = known ?? describeSandbox(this.id, request);
    this.sandboxes.set(sandbox.id, { ...sandbox, state: 'running' });
    const from = known === undefined ? 'boot' : this.comesBackFrom;
    return { sandboxId: sandbox.id, restored: false, from, acquireTimeMs: 1, notices: [] };
  }

  async release(sandboxId: string, releaser: Releaser, how: { isBroken?: boolean } = {}): Promise<void> {
    this.calls.push(['release', { sandboxId, ...releaser, isBroken: how.isBroken ?? false }]);
  }

  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession {
    const called = <T>(name: string, given: object, result: T): T => {
      if (!this.sandboxes.has(sandboxId)) throw new GuestError('session-lost', 'It is gone.', 'Claim again.');
      this.calls.push([name, { caller, ...given }]);
      return result;
    };
    const output = { processId: 'p1', running: false, exitCode: 0, signal: null, text: 'out', nextOffset: 3 };
    return {
      id: sandboxId,
      kind: 'vm',
      home: '/home/user',
      exec: async (request) => called('exec', {}, await this.#exec(request)),
      readFile: async ({ path }) => {
        const content = this.files.get(path);
        if (content === undefined)
          throw new GuestError('not-found', `There is no ${path}.`, 'List the folder.');
        const bytes = Buffer.byteLength(content);
        return called(
          'readFile',
          { path },
          { content, size: bytes, offset: 0, bytes, truncated: false, binary: false, sha256: null },
        );
      },
      writeFile: async ({ signal: _, ...file }) => {
        this.files.set(file.path, file.content);
        const written = { path: file.path, bytes: Buffer.byteLength(file.content), created: true };
        return called('writeFile', { ...file, content: undefined }, written);
      },
      listFiles: async ({ signal: _, ...given }) => {
        const entries = [...this.files].map(([path, { length: size }]) => ({
          path,
          type: 'file' as const,
          size,
        }));
        return called('listFiles', given, { entries, total: entries.length, nextCursor: null });
      },
      search: async ({ signal: _, ...given }) =>
        called('search', given, { matches: [], truncated: false, timedOut: false }),
      startProcess: async ({ signal: _, ...given }) =>
        called('startProcess', given, { processId: 'p1', pid: 7 }),
      readProcess: async ({ signal: _, ...given }) =>
        called('readProcess', given, { ...output, missingBytes: 0 }),
      stopProcess: async ({ signal: _, ...given }) =>
        called('stopProcess', given, { ...output, missingBytes: 0 }),
      readCommand: async ({ callId }) =>
        called(
          'readCommand',
          { callId },
          {
            state: 'ended',
            exitCode: 3,
            signal: null,
            timedOut: false,
            stdoutBytes: 1,
            stderrBytes: 0,
            durationMs: 5,
          },
        ),
    };
  }

  async #exec(request: ExecRequest): Promise<ExecResult> {
    const stdout = new OutputCapture();
    const exitCode = await this.run(request, async (text) => {
      const bytes = Buffer.from(text as string);
      stdout.push(bytes);
      await request.spool?.('stdout', bytes);
    });
    return {
      exitCode,
      signal: null,
      timedOut: false,
      limit: null,
      stdout: stdout.finish(),
      stderr: new OutputCapture().finish(),
      durationMs: 1,
      leftoversKilled: 0,
    };
  }

  async snapshot(sandboxId: string, userId: string): Promise<void> {
    this.calls.push(['snapshot', this.#own(sandboxId, userId).id]);
  }
  async destroy(sandboxId: string, userId: string): Promise<void> {
    this.calls.push(['destroy', this.#own(sandboxId, userId).id]);
  }
  async forget(sandboxId: string, userId: string): Promise<void> {
    this.sandboxes.delete(this.#own(sandboxId, userId).id);
  }
  async setNetworkPolicy(userId: string, policy: NetworkPolicy): Promise<void> {
    this.calls.push(['setNetworkPolicy', { userId, policy }]);
  }
  async grantRepository(sandboxId: string, grant: RepositoryGrant): Promise<void> {
    this.calls.push(['grantRepository', { sandboxId, ...grant }]);
  }
  async revokeRepository(sandboxId: string, repository: string): Promise<void> {
    this.calls.push(['revokeRepository', { sandboxId, repository }]);
  }
  async allowPush(
    sandboxId: string,
    repository: string,
    forMs: number,
  ): Promise<{ withdraw: () => Promise<void> }> {
    this.calls.push(['allowPush', { sandboxId, repository, forMs }]);
    return { withdraw: async () => void this.calls.push(['withdraw', repository]) };
  }
  async buildImage(name: string): Promise<void> {
    if (name === 'unknown')
      throw new AppError('sandbox.no-such-template', 'There is no such template.', { status: 404 });
    this.calls.push(['buildImage', name]);
  }
  /** What is sent comes back. */
  async openSsh(sandboxId: string, request: { userId: string; publicKey: string }): Promise<Duplex> {
    this.#own(sandboxId, request.userId);
    return new PassThrough();
  }

  #own(sandboxId: string, userId: string): SandboxInfo {
    const found = this.sandboxes.get(sandboxId);
    if (found?.userId !== userId) throw notFound('sandbox');
    return found;
  }
}

function describeSandbox(hostId: string, { userId, template, taskId }: AcquireRequest): SandboxInfo {
  const now = new Date().toISOString();
  return {
    id: newId(),
    userId,
    template,
    hostId,
    state: 'running',
    from: 'boot',
    acquireTimeMs: 1,
    stages: [],
    startedAt: now,
    lastUsedAt: now,
    memoryBytes: 1,
    memoryMib: 128,
    cpus: 1,
    diskBytes: 1,
    claims: [{ taskId, isTask: true, since: now, lastCallAt: now }],
    commands: [],
    snapshot: null,
  };
}
