import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../guest/guest-session.contract.ts';
import { hostProcesses } from './host-processes.testing.ts';
import { ProcessSandboxService } from './process-sandbox-service.ts';

const root = mkdtempSync('/var/tmp/vitto-sandbox-test-');
const sandboxes = join(root, 'sandboxes');
const make = (): ProcessSandboxService => new ProcessSandboxService({ root: sandboxes });
const SERVICE = new URL('./process-sandbox-service.ts', import.meta.url).href;

/** Control groups that sandboxes of a server left, wherever they are. */
function groupsOf(pid: number): string[] {
  const { stdout } = spawnSync('find', ['/sys/fs/cgroup', '-name', `vitto-sandbox-${pid}-*`], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('life of a process sandbox', () => {
  beforeAll(() => chmod(root, 0o711));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('leaves no process, file or group behind when it is closed', async () => {
    const service = make();
    const session = await service.open({ taskId: 'closed', readOnlyPaths: [] });
    await session.startProcess({ command: 'trap "" TERM; while :; do sleep 4713; done' });
    await session.exec({
      command: 'mkdir -p a/locked; touch a/locked/x; chmod 000 a/locked; mkdir -p $(seq -s / 1 500)',
      timeoutMs: 9000,
    });
    await until(() => hostProcesses('sleep 4713').length > 0);
    const running = session
      .exec({ command: 'sleep 4714', timeoutMs: 60_000 })
      .catch((error: unknown) => error);
    await until(() => hostProcesses('sleep 4714').some((line) => line.startsWith('sleep')));
    await service.close('closed');
    await running;
    expect(hostProcesses('sleep 471')).toEqual([]);
    expect(existsSync(join(sandboxes, 'closed'))).toBe(false);
    await service.close('closed');
    await expect(session.exec({ command: 'true', timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'session-lost',
    });
  });

  it('finds the same home again from another server process, under the same id', async () => {
    const first = await make().open({ taskId: 'kept', readOnlyPaths: [] });
    await first.writeFile({ path: 'kept.txt', content: 'still here', encoding: 'utf8' });
    const service = make();
    const second = await service.open({ taskId: 'kept', readOnlyPaths: [] });
    expect(second.id).toBe(first.id);
    expect((await second.readFile({ path: 'kept.txt', encoding: 'utf8' })).content).toBe('still here');
    await service.close('kept');
    const third = await service.open({ taskId: 'kept', readOnlyPaths: [] });
    expect(third.id).not.toBe(first.id);
    await service.close('kept');
  });

  it('says when its files went away, and starts anew under a new id', async () => {
    const service = make();
    const session = await service.open({ taskId: 'lost', readOnlyPaths: [] });
    rmSync(join(sandboxes, 'lost'), { recursive: true });
    await expect(session.exec({ command: 'true', timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'session-lost',
    });
    const again = await service.open({ taskId: 'lost', readOnlyPaths: [] });
    expect(again.id).not.toBe(session.id);
    expect((await again.exec({ command: 'pwd', timeoutMs: 5000 })).stdout.text).toBe('/home/user\n');
    await service.close('lost');
  });

  it.skipIf(process.getuid?.() !== 0)('says when its root cannot be reached by its users', async () => {
    const closed = join(root, 'closed-folder');
    mkdirSync(closed, { mode: 0o700 });
    const probe = await new ProcessSandboxService({ root: join(closed, 'sandboxes') }).probe();
    expect(probe).toMatchObject({ available: false, reason: expect.stringContaining(closed) as string });
    expect(probe.hint).toContain('every user can reach');
  });

  it('gives one session to callers that open it at once', async () => {
    const service = make();
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => service.open({ taskId: 'once', readOnlyPaths: [] })),
    );
    expect(new Set(opened).size).toBe(1);
    await service.close('once');
  });

  it('keeps tasks apart', async () => {
    const service = make();
    const [one, two] = await Promise.all(
      ['one', 'two'].map((taskId) => service.open({ taskId, readOnlyPaths: [] })),
    );
    await one?.exec({ command: 'echo private > ~/x; echo private > /tmp/x', timeoutMs: 5000 });
    expect((await two?.exec({ command: 'cat ~/x /tmp/x', timeoutMs: 5000 }))?.stdout.text).toBe('');
    await Promise.all([service.close('one'), service.close('two')]);
  });

  it('sweeps what tasks that are over left', async () => {
    const service = make();
    await service.open({ taskId: 'live', readOnlyPaths: [] });
    await make().open({ taskId: 'orphan', readOnlyPaths: [] });
    expect(await service.sweep((taskId) => taskId === 'live')).toBe(1);
    expect(readdirSync(sandboxes).filter((name) => !name.startsWith('.'))).toEqual(['live']);
    await service.close('live');
  });

  it('refuses task ids that are paths', async () => {
    for (const taskId of ['../x', '', '.hidden', 'a/b']) {
      await expect(make().open({ taskId, readOnlyPaths: [] })).rejects.toMatchObject({ code: 'bad-path' });
    }
  });

  it('dies with a server that is killed', async () => {
    const script = `const { ProcessSandboxService } = await import(${JSON.stringify(SERVICE)});
      const session = await new ProcessSandboxService({ root: ${JSON.stringify(sandboxes)} }).open({ taskId: 'killed', readOnlyPaths: [] });
      await session.startProcess({ command: 'trap "" TERM; (setsid sleep 4715 &); sleep 4716' });
      await session.exec({ command: 'sleep 4717', timeoutMs: 100000 });`;
    const server = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    await until(() =>
      ['sleep 4715', 'sleep 4716', 'sleep 4717'].every((part) =>
        hostProcesses(part).some((line) => line.startsWith(part)),
      ),
    );
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    await until(() => hostProcesses('sleep 471').length === 0);
    expect(await make().sweep(() => false)).toBe(1);
    expect(groupsOf(server.pid ?? 0)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('works for a server that is an ordinary user', () => {
    const own = mkdtempSync('/var/tmp/vitto-sandbox-user-');
    execFileSync('chown', ['12345:12345', own]);
    const script = `const { ProcessSandboxService } = await import(${JSON.stringify(SERVICE)});
      const service = new ProcessSandboxService({ root: ${JSON.stringify(join(own, 'sandboxes'))} });
      const probe = await service.probe();
      const session = await service.open({ taskId: 'user', readOnlyPaths: [] });
      await session.writeFile({ path: 'f', content: 'file', encoding: 'utf8' });
      const { stdout } = await session.exec({ command: 'cat f; id -u; unshare -U true || echo held', timeoutMs: 9000 });
      await session.exec({ command: 'f() { f | f & }; f; sleep 60', timeoutMs: 2000 });
      await session.exec({ command: 'mkdir x; touch x/y; chmod 000 x .', timeoutMs: 9000 });
      await service.close('user');
      const { readdirSync } = await import('node:fs');
      console.log(JSON.stringify({ probe, stdout: stdout.text, left: readdirSync(${JSON.stringify(join(own, 'sandboxes'))}).filter((name) => !name.startsWith('.')) }));`;
    const said = execFileSync(
      'setpriv',
      [
        '--reuid=12345',
        '--regid=12345',
        '--clear-groups',
        '--',
        process.execPath,
        '--input-type=module',
        '-e',
        script,
      ],
      { encoding: 'utf8', cwd: '/', env: { PATH: '/usr/bin:/bin' } },
    );
    rmSync(own, { recursive: true, force: true });
    expect(JSON.parse(said)).toMatchObject({
      probe: { available: true, runsAs: 'server-user' },
      stdout: 'file1000\nheld\n',
      left: [],
    });
  });
});
