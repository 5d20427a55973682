import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecRequest, ExecResult } from '@vitto/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../guest/guest-session.contract.ts';
import { hostProcesses } from './host-processes.testing.ts';
import { candidateLimiters } from './probe.ts';
import { ProcessSandboxService } from './process-sandbox-service.ts';
import type { ProcessSession } from './process-session.ts';
import { watchProcessTree } from './resources/process-tree.ts';

const MiB = 1024 * 1024;
const root = mkdtempSync('/var/tmp/vitto-sandbox-test-');
beforeAll(() => chmod(root, 0o711));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ways = {
  'what this machine offers': candidateLimiters,
  'the watchdog alone': () => [watchProcessTree()],
};

for (const [way, limiters] of Object.entries(ways)) {
  describe(`limits by ${way}`, () => {
    const service = new ProcessSandboxService({
      root: join(root, way.replaceAll(' ', '-')),
      limiters,
      limits: { cpuMs: 2000, diskBytes: 64 * MiB, diskEntries: 20_000 },
    });
    let session: ProcessSession;
    beforeAll(async () => {
      session = await service.open({ taskId: 'limited', readOnlyPaths: [] });
    });
    afterAll(async () => {
      await service.close('limited');
      await service.stop();
    });
    const exec = (command: string, options: Partial<ExecRequest> = {}): Promise<ExecResult> =>
      session.exec({ command, timeoutMs: 30_000, ...options });
    const stillWorks = async (): Promise<void> => {
      expect((await exec('echo fine')).stdout.text).toBe('fine\n');
    };

    it('says which is in force', async () => {
      const { memoryLimit } = await service.probe();
      expect(['cgroup-v1', 'cgroup-v2', 'watchdog']).toContain(memoryLimit);
      if (way === 'the watchdog alone') expect(memoryLimit).toBe('watchdog');
    });

    it('ends a memory hog', async () => {
      expect((await exec(`head -c ${600 * MiB} /dev/zero | tail -c ${600 * MiB} | wc -c`)).limit).toBe(
        'memory',
      );
      await stillWorks();
    });

    it('counts the memory of the whole tree', async () => {
      const part = `head -c ${60 * MiB} /dev/zero | tail -c ${60 * MiB} | sleep 5`;
      expect((await exec(Array.from({ length: 8 }, () => `(${part}) &`).join(' ') + ' wait')).limit).toBe(
        'memory',
      );
    });

    it('lets Node.js run', async () => {
      expect((await exec('/opt/vitto/bin/node -p 6*7')).stdout.text).toBe('42\n');
    });

    it('counts the processor time of the whole tree, that of children included', async () => {
      const burn = 'while :; do :; done';
      const result = await exec(`for i in 1 2 3 4; do (${burn}) & done; ${burn}`);
      expect(result.limit).toBe('cpu');
      const short = 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done';
      expect((await exec(`while :; do sh -c '${short}'; done`)).limit).toBe('cpu');
      await stillWorks();
    });

    it('outlives a fork bomb', async () => {
      const startedAt = performance.now();
      await exec('f() { f | f & }; f; sleep 60', { timeoutMs: 3000 });
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      await stillWorks();
    });

    it('bounds the number of processes', async () => {
      const { stdout, stderr } = await exec(
        'i=0; while [ $i -lt 700 ]; do sleep 3 & i=$((i+1)); done; echo all',
      );
      expect(stdout.text).not.toContain('all');
      expect(stderr.text).toMatch(/fork/i);
    });

    it('ends what fills the disk, and lets it be tidied up', async () => {
      expect(
        (
          await exec(
            'dd if=/dev/zero of=big bs=1M count=3000 2>/dev/null; while :; do cat big >> bigger; done',
          )
        ).limit,
      ).toBe('disk');
      await expect(
        session.writeFile({ path: 'more.txt', content: 'x', encoding: 'utf8' }),
      ).rejects.toMatchObject({ code: 'no-space' });
      expect((await exec('rm -f big bigger')).exitCode).toBe(0);
      expect(await session.writeFile({ path: 'more.txt', content: 'x', encoding: 'utf8' })).toMatchObject({
        bytes: 1,
      });
    });

    it('ends what fills the disk with empty files', async () => {
      const result = await exec('mkdir many; cd many; seq 1 1000000 | xargs touch', { timeoutMs: 60_000 });
      expect(['disk', 'cpu']).toContain(result.limit);
      await exec('rm -rf many');
    });

    it('leaves nothing of a time-out on the host', async () => {
      const running = exec('trap "" TERM; (trap "" TERM; sleep 4711.5) & echo started; wait', {
        timeoutMs: 1500,
      });
      await until(() => hostProcesses('sleep 4711.5').length > 0);
      expect(await running).toMatchObject({ timedOut: true, stdout: { text: 'started\n' } });
      expect(hostProcesses('sleep 4711.5')).toEqual([]);
    });
  });
}

describe('a fork bomb that the watchdog alone holds', () => {
  const service = new ProcessSandboxService({
    root: join(root, 'bombs'),
    limiters: () => [watchProcessTree()],
    // So much processor time that it cannot be what ends them.
    limits: { cpuMs: 600_000 },
  });
  let session: ProcessSession;
  beforeAll(async () => {
    session = await service.open({ taskId: 'bomb', readOnlyPaths: [] });
  });
  afterEach(() => expect(hostProcesses('bomb-4716')).toEqual([]));
  afterAll(async () => {
    await service.close('bomb');
    await service.stop();
  });
  const asPerl = (program: string): string => `exec perl -e '${program}' bomb-4716 2>/dev/null`;
  const RESTLESS = asPerl(
    '$SIG{CHLD} = "IGNORE"; for (;;) { my $pid = fork; next if !defined $pid || $pid; select undef, undef, undef, rand; exit }',
  );
  const bombs = {
    'whose processes wait': asPerl(
      'for (;;) { my $pid = fork; sleep 1 if !defined $pid; sleep 600 if defined $pid && !$pid }',
    ),
    'whose processes come and go': RESTLESS,
  };

  for (const [kind, command] of Object.entries(bombs)) {
    it(`is ended long before its time limit, and said to be: one ${kind}`, async () => {
      const result = await session.exec({ command, timeoutMs: 120_000 });
      expect(result).toMatchObject({ limit: 'processes', timedOut: false, exitCode: null });
      expect((await session.exec({ command: 'echo fine', timeoutMs: 30_000 })).stdout.text).toBe('fine\n');
    });
  }

  it('is ended by its time limit', async () => {
    const result = await session.exec({ command: RESTLESS, timeoutMs: 500 });
    expect(result).toMatchObject({ timedOut: true, limit: null });
  });

  it('is ended by whoever aborts it', async () => {
    const abort = new AbortController();
    const running = session.exec({ command: RESTLESS, timeoutMs: 120_000, signal: abort.signal });
    const outcome = running.catch((error: unknown) => error);
    await until(() => hostProcesses('bomb-4716').length > 100);
    abort.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ message: 'enough' });
  });

  it('is ended where it runs on between calls', async () => {
    const { processId } = await session.startProcess({ command: RESTLESS });
    await until(async () => !(await session.readProcess({ processId })).running);
    expect((await session.readProcess({ processId })).signal).toBe('SIGKILL');
  });
});
