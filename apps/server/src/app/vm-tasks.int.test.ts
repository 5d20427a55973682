import type { EventEnvelope, ExecRequest, ImageInfo } from '@vitto/contracts';
import { GuestError, type DegradePolicy, type GuestSession, type Settings } from '@vitto/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { expireLeases, createGuestTools, findTask, LostLease } from '../engine/index.ts';
import { AppError } from '../kernel/app-error.ts';
import { newId } from '../kernel/ids.ts';
import { silentLogger } from '../kernel/logger.ts';
import { cancelRun } from '../runs/cancel-run.ts';
import { decideApproval, wakeTasksForVm } from '../runs/decide-approval.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../runs/testing/run-harness.ts';
import { SandboxHosts } from '../sandbox/host/sandbox-hosts.ts';
import { FakeSandboxHost } from '../sandbox/host/testing-fake-host.ts';
import { SandboxedToolProxyService, type ToolProxyOptions } from '../sandbox/index.ts';
import { Guests } from './guests.ts';

const image = (name: string, more: Partial<ImageInfo> = {}): ImageInfo => ({
  name,
  hash: 'h',
  state: 'ready',
  bytes: 1,
  builtAt: null,
  hasBaseSnapshot: true,
  progress: null,
  problem: null,
  ...more,
});
const building = image('developer', {
  state: 'building',
  progress: { step: 'fetching packages', fraction: 0.4 },
});

/** Commands that the process sandbox was given, in place of bubblewrap. */
function fakeProcessSandbox(available: boolean) {
  const commands: string[] = [];
  const exec = (request: ExecRequest) => {
    commands.push(request.command);
    const nothing = { text: '', totalBytes: 0, missingBytes: 0, replaced: false };
    const rest = { signal: null, timedOut: false, limit: null, durationMs: 1, leftoversKilled: 0 };
    return Promise.resolve({ exitCode: 0, stdout: nothing, stderr: nothing, ...rest });
  };
  const service = {
    probe: () =>
      Promise.resolve({
        available,
        reason: available ? null : 'The process sandbox needs bwrap.',
        hint: available ? null : 'Install: apt-get install bubblewrap',
      }),
    open: () =>
      Promise.resolve({
        id: 'p',
        kind: 'process-sandbox',
        home: '/home/user',
        exec,
      } as unknown as GuestSession),
    close: () => Promise.resolve(),
    suspend: () => Promise.resolve(),
    refusedPaths: () => Promise.resolve([]),
    sweep: () => Promise.resolve(0),
  } as unknown as ToolProxyOptions['processSandbox'];
  return { commands, service };
}

const open: RunHarness[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.drop();
});

async function begin(options: {
  images?: ImageInfo[];
  degrade?: DegradePolicy;
  settings?: Partial<Settings>;
  hasBubblewrap?: boolean;
  commands?: string[];
}) {
  const host = new FakeSandboxHost();
  host.info_ = { images: options.images ?? [image('developer')] };
  const place = fakeProcessSandbox(options.hasBubblewrap ?? true);
  let now = 0;
  const proxy = new SandboxedToolProxyService({
    pool: new SandboxHosts({ hosts: [host], logger: silentLogger, takeOverMs: 0 }),
    processSandbox: place.service,
    degrade: options.degrade ?? 'ask',
    developerTemplate: 'developer',
    readSettings: (userId) => h.tasks.readSettings(userId),
    grantDeployKeys: () => Promise.resolve([]),
    secretFolders: [],
    logger: silentLogger,
  });
  const guests: Guests = new Guests({
    proxy,
    // The harness makes it; nothing here sweeps before.
    database: {
      get pool() {
        return h.database.pool;
      },
    } as never,
    hasVms: true,
    probeProcessSandbox: () => Promise.resolve({ available: true }),
  });
  const h: RunHarness = await createRunHarness({
    tools: createGuestTools().tools,
    guests,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  });
  open.push(h);
  const commands = options.commands ?? ['uname'];
  h.setModels([
    functionModel(() => {
      const command = commands[now];
      now += 1;
      if (command === undefined) return turn({ text: 'done' });
      if (command === '?')
        return turn({ calls: [{ id: `c${now}`, tool: 'ask_user', args: { question: 'Go on?' } }] });
      return turn({ calls: [{ id: `c${now}`, tool: 'run_command', args: { command } }] });
    }),
  ]);
  const ran: string[] = [];
  host.run = async ({ command }, print) => {
    ran.push(command);
    await print('in the vm\n');
    return 0;
  };
  const { taskId, conversationId } = await h.start('do it');
  const events = async (...types: string[]) =>
    (await h.events(taskId)).filter(({ type }) => types.length === 0 || types.includes(type));
  const payload = async <T>(type: string) => (await events(type)).map((event) => event.payload as T);
  const question = async () =>
    (await payload<{ approvalId: string; reason: string }>('approval.requested')).at(-1);
  return { h, host, guests, place, ran, taskId, conversationId, events, payload, question };
}
type Called = { status: string; text: string; ranOn?: Record<string, unknown> };
const types = (events: EventEnvelope[]) => events.map(({ type }) => type);
const callsOf = (host: FakeSandboxHost, name: string) => host.calls.filter(([call]) => call === name);

describe('a task with a VM', () => {
  it('claims it at its first command, keeps it, says how it came, and lets it go before it ends', async () => {
    const { h, host, ran, taskId, events, payload } = await begin({ commands: ['one', 'two'] });
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect(ran).toEqual(['one', 'two']);
    expect(callsOf(host, 'acquire')).toHaveLength(1);
    expect(callsOf(host, 'release')).toHaveLength(1);
    const [sandboxId] = [...host.sandboxes.keys()];
    expect(
      types(await events('tool.starting', 'tool.called', 'vm.acquired', 'vm.released', 'task.completed')),
    ).toEqual([
      'vm.acquired',
      'tool.starting',
      'tool.called',
      'tool.starting',
      'tool.called',
      'vm.released',
      'task.completed',
    ]);
    expect(await payload('vm.acquired')).toMatchObject([
      { vmId: sandboxId, from: 'boot', host: 'fake-host', template: 'developer', restored: false },
    ]);
    const [first, second] = await payload<Called>('tool.called');
    expect(first?.ranOn).toEqual({ kind: 'vm', sandboxId, host: 'fake-host', from: 'boot' });
    expect(first?.text).toContain('Commands run in a VM of the user');
    expect(second?.text).not.toContain('Commands run in a VM');
    expect(host.calls).toContainEqual(['exec', { caller: { taskId, fence: 1 } }]);
  });

  it('claims none for a task without commands', async () => {
    const { h, host, taskId } = await begin({ commands: [] });
    await h.run(taskId);
    expect(host.calls).toEqual([]);
  });

  it('lets it go while it waits for the user, and has the same one afterwards', async () => {
    const { h, host, taskId, conversationId, payload } = await begin({ commands: ['one', '?', 'two'] });
    expect(await h.run(taskId)).toMatchObject({ kind: 'parked' });
    expect(callsOf(host, 'release')).toHaveLength(1);
    await h.say(conversationId, 'yes');
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    const acquired = await payload<{ vmId: string; from: string }>('vm.acquired');
    expect(acquired.map(({ from }) => from)).toEqual(['boot', 'session']);
    expect(new Set(acquired.map(({ vmId }) => vmId)).size).toBe(1);
    expect(callsOf(host, 'release')).toHaveLength(2);
  });

  it('says where it stands in the line', async () => {
    const { h, host, taskId, payload } = await begin({});
    host.beforeAcquire = ({ onWaiting }) => onWaiting?.({ place: 2, reason: '4 VMs run here.' });
    await h.run(taskId);
    expect(await payload('vm.waiting')).toEqual([{ place: 2, reason: '4 VMs run here.' }]);
  });

  it('takes the small image while the other is being built, and says so', async () => {
    const { h, taskId, payload } = await begin({ images: [building, image('minimal')] });
    await h.run(taskId);
    expect(await payload('vm.acquired')).toMatchObject([
      {
        template: 'minimal',
        notices: [expect.stringMatching(/"developer" is being built \(fetching packages, 40 %\)/) as string],
      },
    ]);
  });

  it('tells truthfully of a machine that is lost, and goes on in the next one', async () => {
    const { h, host, taskId, payload } = await begin({ commands: ['one', 'two', 'three'] });
    const run = host.run;
    host.run = (request, print) => {
      if (request.command === 'two') {
        host.sandboxes.clear();
        throw new GuestError('session-lost', 'The VM has ended.', 'Claim again.');
      }
      return run(request, print);
    };
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    const [, lost, after] = await payload<Called>('tool.called');
    expect(lost).toMatchObject({ status: 'error', text: expect.stringContaining('session-lost') as string });
    expect(after?.status).toBe('ok');
    expect(after?.text).toContain(
      'This is a new machine: files and programs of the earlier one are not there.',
    );
    expect(await payload('vm.lost')).toMatchObject([{ reason: 'The VM has ended.' }]);
    expect(await payload('vm.acquired')).toHaveLength(2);
  });

  it('says that its host put the machine aside meanwhile, when it comes back from its snapshot', async () => {
    const { h, host, taskId, payload } = await begin({ commands: ['one', 'two'] });
    const killed = new AbortController();
    host.run = async ({ command }, print) => {
      if (command === 'one') killed.abort(new Error('killed'));
      await print(command);
      return 0;
    };
    await expect(h.run(taskId, { signal: killed.signal, isDraining: () => false })).rejects.toThrow('killed');
    await expireLeases(h.database.pool, ['worker-1']);
    host.comesBackFrom = 'user-snapshot';
    expect(await h.run(taskId, undefined, 'worker-2')).toEqual({ kind: 'completed' });
    const acquired = await payload<{ from: string }>('vm.acquired');
    expect(acquired.map(({ from }) => from)).toEqual(['boot', 'user-snapshot']);
    const [aside] = await payload<{ reason: string }>('vm.released');
    expect(aside?.reason).toContain('put aside');
    // It was the call under way that found it: the model is told with its result.
    expect((await payload<Called>('tool.called')).map(({ text }) => text).join()).toContain(
      'was put aside meanwhile',
    );
    expect(await payload('vm.lost')).toEqual([]);
  });

  it('says that it was let go when the task is cancelled, and lets it go at once', async () => {
    const { h, host, guests, taskId, events, payload } = await begin({ commands: ['long'] });
    const seized = new AbortController();
    host.run = async () => {
      await cancelRun(h.runs, { userId: h.userId, taskId, by: 'test' });
      seized.abort(new Error('seized'));
      return 0;
    };
    await expect(h.run(taskId, { signal: seized.signal, isDraining: () => false })).rejects.toThrow('seized');
    expect(types(await events('tool.called', 'vm.released', 'task.cancelled'))).toEqual([
      'tool.called',
      'vm.released',
      'task.cancelled',
    ]);
    const [sandboxId] = [...host.sandboxes.keys()];
    expect(await payload('vm.released')).toEqual([{ vmId: sandboxId }]);
    // What a worker does that is told of it.
    await guests.sweep();
    expect(callsOf(host, 'release')).toMatchObject([['release', { taskId, sandboxId, fence: null }]]);
  });

  it('says that it was let go when the task cannot go on after its worker died', async () => {
    const { h, host, taskId, events } = await begin({ commands: ['long'] });
    const killed = new AbortController();
    host.run = async () => {
      killed.abort(new Error('killed'));
      return 0;
    };
    await expect(h.run(taskId, { signal: killed.signal, isDraining: () => false })).rejects.toThrow('killed');
    await expireLeases(h.database.pool, ['worker-1']);
    expect(callsOf(host, 'release')).toEqual([]);
    h.tasks.resolveModels = () => Promise.reject(new AppError('model.unknown', 'There is no such model.'));
    expect(await h.run(taskId, undefined, 'worker-2')).toMatchObject({ kind: 'failed' });
    expect(types(await events('vm.acquired', 'vm.released', 'task.failed'))).toEqual([
      'vm.acquired',
      'vm.released',
      'task.failed',
    ]);
  });

  it('leaves a later run of the task its claim when an earlier one lets go late', async () => {
    const { guests, h, host, taskId } = await begin({});
    const record = await findTask(h.database.pool, h.userId, taskId);
    if (record === null) throw new Error('no task');
    const request = { vm: null, template: null, isDegraded: false, degradation: null } as const;
    const more = { onWaiting: () => undefined, signal: new AbortController().signal };
    const [earlier, later] = [1, 2].map((fence) => ({ ...record, fence }));
    if (earlier === undefined || later === undefined) throw new Error('no owners');
    await guests.claim(earlier, { ...request, ...more });
    await guests.claim(later, { ...request, ...more });
    await guests.rest(earlier);
    expect(callsOf(host, 'release')).toEqual([]);
    await guests.rest(later);
    expect(callsOf(host, 'release')).toMatchObject([['release', { taskId, fence: 2 }]]);
  });

  it('takes the claims of tasks away that are gone, and no person’s', async () => {
    const { host, guests, h, taskId } = await begin({});
    await h.run(taskId);
    const [sandbox] = host.sandboxes.values();
    if (sandbox === undefined) throw new Error('no machine');
    const now = new Date().toISOString();
    const person = newId();
    sandbox.claims = [
      { taskId, isTask: true, since: now, lastCallAt: now },
      { taskId: person, isTask: false, since: now, lastCallAt: now },
    ];
    host.sandboxes.set(sandbox.id, sandbox);
    host.calls.length = 0;
    await guests.sweep();
    expect(callsOf(host, 'release')).toMatchObject([['release', { taskId }]]);
  });

  it('shuts out a worker whose claim a later one has overtaken', async () => {
    const { h, host, taskId, ran } = await begin({});
    host.beforeAcquire = () => {
      throw new AppError('sandbox.stale-fence', 'A later owner has claimed.', { status: 409 });
    };
    await expect(h.run(taskId)).rejects.toThrow(LostLease);
    expect(ran).toEqual([]);
  });
});

describe('a command whose worker dies', () => {
  it("gets its real result from the machine's record", async () => {
    const { h, host, taskId, ran, payload } = await begin({ commands: ['long'] });
    const killed = new AbortController();
    host.run = () => {
      ran.push('long');
      killed.abort(new Error('killed'));
      return new Promise(() => undefined);
    };
    await expect(h.run(taskId, { signal: killed.signal, isDraining: () => false })).rejects.toThrow('killed');
    await expireLeases(h.database.pool, ['worker-1']);
    expect(await h.run(taskId, undefined, 'worker-2')).toEqual({ kind: 'completed' });
    expect(ran).toEqual(['long']);
    const [called] = await payload<Called>('tool.called');
    expect(called).toMatchObject({ status: 'error', ranOn: { kind: 'vm', from: 'session' } });
    expect(called?.text).toMatch(/machine's own record\.\]\s+Exit code 3/);
  });

  it('is said to be unknown where the machine knows nothing of it', async () => {
    const { h, host, taskId, payload } = await begin({ commands: ['long'] });
    const killed = new AbortController();
    host.run = () => {
      killed.abort(new Error('killed'));
      return new Promise(() => undefined);
    };
    await expect(h.run(taskId, { signal: killed.signal, isDraining: () => false })).rejects.toThrow('killed');
    await expireLeases(h.database.pool, ['worker-1']);
    host.beforeAcquire = () => {
      throw new AppError('sandbox.start-failed', 'QEMU ended at once.', { status: 503 });
    };
    await h.run(taskId, undefined, 'worker-2');
    expect(await payload('tool.called')).toMatchObject([{ status: 'unknown' }]);
  });
});

describe('where no VM can be had', () => {
  it('asks once, waits over a restart, and runs in the process sandbox when the user says yes', async () => {
    const { h, host, place, ran, taskId, payload, question } = await begin({
      images: [building],
      commands: ['one', 'two'],
    });
    expect(await h.run(taskId)).toMatchObject({ kind: 'parked', state: 'waiting_approval' });
    expect(await payload('tool.starting')).toEqual([]);
    expect(await payload('approval.requested')).toMatchObject([
      {
        tool: 'use_process_sandbox',
        arguments: { reason: expect.stringContaining('is being built') as string, waits: true },
        reason: expect.stringContaining('goes on by itself') as string,
      },
    ]);
    const { approvalId = '' } = (await question()) ?? {};
    await decideApproval(h.runs, { userId: h.userId, approvalId, decision: 'approved', by: 'cli' });
    // Another process: nothing is known but the journal.
    expect(await h.run(taskId, undefined, 'worker-2')).toEqual({ kind: 'completed' });
    expect(place.commands).toEqual(['one', 'two']);
    expect([ran, callsOf(host, 'acquire')]).toEqual([[], []]);
    expect(await payload('vm.degraded')).toMatchObject([{ fallbackTier: 'process-sandbox' }]);
    expect(await payload('approval.requested')).toHaveLength(1);
    const [first] = await payload<Called>('tool.called');
    expect(first).toMatchObject({ status: 'ok', ranOn: { kind: 'process-sandbox' } });
    expect(first?.text).toContain('Commands run in the process sandbox: no network');
  });

  it('runs nothing when the user says no, and tells the model', async () => {
    const { h, place, ran, taskId, payload, question } = await begin({ images: [] });
    await h.run(taskId);
    const { approvalId = '' } = (await question()) ?? {};
    await decideApproval(h.runs, { userId: h.userId, approvalId, decision: 'refused', by: 'web' });
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect([place.commands, ran]).toEqual([[], []]);
    expect(await payload('tool.called')).toMatchObject([
      {
        status: 'error',
        text: expect.stringMatching(/^tool_unavailable: .*did not allow the process sandbox/) as string,
      },
    ]);
  });

  it('goes on in a VM by itself when one can be had meanwhile', async () => {
    const { h, host, guests, place, ran, taskId, payload } = await begin({ images: [building] });
    await h.run(taskId);
    const wake = () => wakeTasksForVm(h.runs, () => guests.canHaveVm(null));
    await wake();
    expect((await h.task(taskId)).state).toBe('waiting_approval');
    host.info_ = { images: [image('developer')] };
    await expect
      .poll(async () => (await wake(), (await h.task(taskId)).state), { timeout: 30_000 })
      .toBe('queued');
    expect(await payload('approval.decided')).toMatchObject([
      { decision: 'void', note: 'a VM can be had now' },
    ]);
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect([ran, place.commands]).toEqual([['uname'], []]);
  });

  it('does not wake a task for a host that fails to start VMs, again and again', async () => {
    const { h, host, guests, taskId, payload } = await begin({});
    host.beforeAcquire = () => {
      throw new AppError('sandbox.start-failed', 'QEMU ended at once.', { status: 503 });
    };
    expect(await h.run(taskId)).toMatchObject({ kind: 'parked' });
    await wakeTasksForVm(h.runs, () => guests.canHaveVm(null));
    expect((await h.task(taskId)).state).toBe('waiting_approval');
    expect(await payload('approval.requested')).toMatchObject([{ arguments: { waits: false } }]);
  });

  it('reads what the user writes instead of deciding, before anything runs', async () => {
    const { h, place, ran, taskId, conversationId, payload } = await begin({ images: [] });
    await h.run(taskId);
    await h.say(conversationId, 'leave it');
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect([place.commands, ran]).toEqual([[], []]);
    expect(await payload('tool.called')).toMatchObject([{ status: 'refused' }]);
  });

  it.each([
    ['never', null],
    ['allow', 'never'],
  ] as const)('refuses commands where the policy is %s and the own one %s', async (degrade, vmDegrade) => {
    const { h, place, ran, taskId, payload } = await begin({ images: [], degrade, settings: { vmDegrade } });
    expect(await h.run(taskId)).toEqual({ kind: 'completed' });
    expect([place.commands, ran]).toEqual([[], []]);
    expect(await payload('tool.called')).toMatchObject([
      {
        status: 'error',
        text: expect.stringMatching(
          /^tool_unavailable: The image "developer" has not been built\. Commands may run in a VM only\. Build it: vitto image build developer/,
        ) as string,
      },
    ]);
  });

  it('settles for the process sandbox unasked where the policy allows it, but never where it is missing', async () => {
    const allowed = await begin({ images: [], degrade: 'allow' });
    await allowed.h.run(allowed.taskId);
    expect(allowed.place.commands).toEqual(['uname']);
    expect(await allowed.payload('vm.degraded')).toHaveLength(1);
    const bare = await begin({ images: [], degrade: 'allow', hasBubblewrap: false });
    await bare.h.run(bare.taskId);
    expect([bare.place.commands, bare.ran]).toEqual([[], []]);
    expect(await bare.payload('tool.called')).toMatchObject([
      {
        text: expect.stringMatching(
          /^tool_unavailable: .*needs bwrap\. .*apt-get install bubblewrap/,
        ) as string,
      },
    ]);
  });

  it('keeps a task where its files are, whatever can be had later', async () => {
    const { h, host, place, taskId, conversationId } = await begin({
      images: [],
      degrade: 'allow',
      commands: ['one', '?', 'two'],
    });
    await h.run(taskId);
    host.info_ = { images: [image('developer')] };
    await h.say(conversationId, 'yes');
    await h.run(taskId);
    expect(place.commands).toEqual(['one', 'two']);
    expect(callsOf(host, 'acquire')).toEqual([]);
  });
});
