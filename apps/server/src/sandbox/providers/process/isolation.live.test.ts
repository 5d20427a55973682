import { execFile, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecResult, GuestErrorCode } from '@vitto/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hostProcesses } from './host-processes.testing.ts';
import { ProcessSandboxService } from './process-sandbox-service.ts';
import type { ProcessSession } from './process-session.ts';

const run = promisify(execFile);
const CANARY = 'canary-5f1d0c8e-of-the-server';
const root = mkdtempSync('/var/tmp/vitto-sandbox-test-');
const allowed = join(root, 'allowed');
const secret = join(root, 'vitto-home');
const service = new ProcessSandboxService({ root: join(root, 'sandboxes'), secretFolders: [secret] });

describe('isolation of the process sandbox', () => {
  let session: ProcessSession;
  beforeAll(async () => {
    process.env.VITTO_TEST_CANARY = CANARY;
    await chmod(root, 0o711);
    for (const folder of [allowed, secret]) mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(allowed, 'shown.txt'), 'shown to the sandbox');
    writeFileSync(join(secret, '.env'), CANARY, { mode: 0o644 });
    symlinkSync(join(secret, '.env'), join(allowed, 'leak'));
    session = await service.open({
      taskId: 'isolated',
      readOnlyPaths: [allowed, secret, root, '/', '/proc', '/etc', '/missing'],
    });
  });
  afterAll(async () => {
    delete process.env.VITTO_TEST_CANARY;
    await service.close('isolated');
    await service.stop();
    rmSync(root, { recursive: true, force: true });
  });
  const exec = (command: string): Promise<ExecResult> => session.exec({ command, timeoutMs: 20_000 });
  const output = async (command: string): Promise<string> => {
    const { stdout, stderr } = await exec(command);
    return stdout.text + stderr.text;
  };
  const codeOf = (work: Promise<unknown>): Promise<GuestErrorCode | 'no error'> =>
    work.then(
      () => 'no error' as const,
      (error: { code: GuestErrorCode }) => error.code,
    );

  it('shows nothing of the server: environment, processes, host name, files (i-05)', async () => {
    const seen = await output(
      'env; cat /proc/1/environ /proc/self/environ /proc/*/environ; ps axww; cat /proc/*/cmdline; hostname; cat /etc/hostname /proc/sys/kernel/hostname; cat ~/.vitto/.env; ls -la /root /home /var /run',
    );
    expect(seen).toContain('HOME=/home/user');
    expect(seen).not.toContain(CANARY);
    expect(seen).not.toContain('vitest');
    expect((await exec('uname -n')).stdout.text).toBe('sandbox\n');
    expect(seen.split('\n')).not.toContain(hostname());
    expect((await exec('ls /proc | grep -c "^[0-9]"')).stdout.text.length).toBeLessThanOrEqual(2);
  });

  it('leaks no descriptor of the server', async () => {
    const fds = (await exec('ls -l /proc/self/fd; ls -l /proc/1/fd')).stdout.text;
    expect(fds).not.toMatch(/\bnet:|\buser:|\.bpf|vitto-sandbox/);
  });

  it('leaks no descriptor that whoever started the server had left open', async () => {
    const module = new URL('./process-sandbox-service.ts', import.meta.url).href;
    const program = `
      const { ProcessSandboxService } = await import(${JSON.stringify(module)});
      const service = new ProcessSandboxService({ root: ${JSON.stringify(join(root, 'started'))}, secretFolders: [] });
      const session = await service.open({ taskId: 'started', readOnlyPaths: [] });
      const seen = await session.exec({ command: 'ls -l /proc/self/fd /proc/1/fd', timeoutMs: 20_000 });
      console.log(seen.stdout.text);
      await service.close('started');
      await service.stop();`;
    const start = ['-c', 'exec 200<"$0"; exec "$@"', secret];
    const { stdout } = await run('bash', [...start, process.execPath, '--input-type=module', '-e', program]);
    expect(stdout).toContain('/proc/1/fd:');
    expect(stdout).not.toMatch(/ 200 -> /);
  });

  it('has no network but its own loopback', async () => {
    const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const port = (server.address() as { port: number }).port;
    try {
      const attempt = (host: string, to: number): string =>
        `/opt/vitto/bin/node -e "require('net').connect(${to},'${host}').on('connect',()=>console.log('REACHED')).on('error',e=>console.log(e.code))"; `;
      const seen = await output(attempt('127.0.0.1', port) + attempt('1.1.1.1', 80) + 'cat /proc/net/dev');
      expect(seen).not.toContain('REACHED');
      expect(seen).toContain('ECONNREFUSED');
      expect(seen).toContain('ENETUNREACH');
      expect(seen.match(/^\s*\w+:/gm)?.map((name) => name.trim())).toEqual(['lo:']);
    } finally {
      server.close();
    }
  });

  it('cannot write to the system, gain privileges or make namespaces', async () => {
    expect(
      (
        await exec(
          'touch /usr/x /etc/x /x /dev/x /opt/vitto/x 2>/dev/null; ls -d /usr/x /etc/x /x /dev/x /opt/vitto/x',
        )
      ).stdout.text,
    ).toBe('');
    for (const command of [
      'unshare -U true',
      'unshare -n true',
      'mount -t tmpfs none /tmp',
      'nsenter -t 1 -n true',
      'chroot / true',
    ]) {
      expect((await exec(command)).exitCode, command).not.toBe(0);
    }
    const status = (await exec('cat /proc/self/status')).stdout.text;
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^CapEff:\s+0000000000000000$/m);
    expect(status).toMatch(/^CapBnd:\s+0000000000000000$/m);
  });

  it('refuses system calls that reach out of it', async () => {
    const seen = await output(
      `perl -e 'for my $call ([ptrace=>101,0,0,0,0],[bpf=>321,0,0,0],[keyctl=>250,0,0,0],[perf=>298,0,0,0,0,0],[uffd=>323,0],[unshare=>272,0x10000000],[vsock=>41,40,1,0],[uring=>425,1,0],[setns=>308,0,0]) { my ($name, @args) = @$call; $! = 0; my $r = syscall(shift @args, @args); print "$name $r ", $! + 0, "\\n" }'`,
    );
    if (process.arch !== 'x64') return;
    expect(seen.trim().split('\n')).toEqual([
      'ptrace -1 1',
      'bpf -1 1',
      'keyctl -1 1',
      'perf -1 1',
      'uffd -1 1',
      'unshare -1 1',
      'vsock -1 97',
      'uring -1 38',
      'setns -1 1',
    ]);
  });

  it('shows allowed folders read-only at their own path, and no secret ones', async () => {
    expect((await session.readFile({ path: `${allowed}/shown.txt`, encoding: 'utf8' })).content).toBe(
      'shown to the sandbox',
    );
    expect((await exec(`cat ${allowed}/shown.txt; touch ${allowed}/new`)).exitCode).not.toBe(0);
    expect(await codeOf(session.writeFile({ path: `${allowed}/new`, content: 'x', encoding: 'utf8' }))).toBe(
      'read-only',
    );
    expect((await session.search({ pattern: 'shown', path: allowed, timeoutMs: 5000 })).matches).toHaveLength(
      1,
    );
    expect(await output(`cat ${allowed}/leak ${secret}/.env`)).not.toContain(CANARY);
    const refused = await service.refusedPaths('isolated');
    expect(refused.map(({ path }) => path).sort()).toEqual(
      ['/', '/etc', '/missing', '/proc', root, secret].sort(),
    );
  });

  describe('an allowed folder that is swapped for a link', () => {
    const project = join(root, 'work', 'project');
    const other = join(root, 'other');
    const putBack = (): void => {
      rmSync(join(root, 'work'), { recursive: true, force: true });
      mkdirSync(project, { recursive: true, mode: 0o755 });
      writeFileSync(join(project, 'which.txt'), 'project');
    };
    const swap = (): void => {
      renameSync(project, `${project}-aside`);
      symlinkSync(other, project);
    };
    beforeAll(() => {
      mkdirSync(join(other, 'project'), { recursive: true, mode: 0o755 });
      writeFileSync(join(other, 'which.txt'), CANARY);
      writeFileSync(join(other, 'project', 'which.txt'), CANARY);
    });
    afterEach(() => service.close('swapped'));
    const open = (): Promise<ProcessSession> =>
      service.open({ taskId: 'swapped', readOnlyPaths: [project, allowed] });
    const show = async (of: ProcessSession): Promise<string> => {
      const { stdout } = await of.exec({
        command: `cat ${project}/which.txt ${allowed}/shown.txt`,
        timeoutMs: 20_000,
      });
      return stdout.text;
    };

    it('is refused when the session is opened, as is one with a link on its way', async () => {
      putBack();
      swap();
      expect(await show(await open())).toBe('shown to the sandbox');
      const reason = 'it has become a link since it was allowed';
      expect(await service.refusedPaths('swapped')).toEqual([{ path: project, reason }]);
      await service.close('swapped');
      rmSync(join(root, 'work'), { recursive: true });
      symlinkSync(other, join(root, 'work'));
      expect(await show(await open())).toBe('shown to the sandbox');
      expect(await service.refusedPaths('swapped')).toEqual([{ path: project, reason }]);
    });

    it('is left out of every later call of a session that had shown it', async () => {
      putBack();
      const swapped = await open();
      expect(await show(swapped)).toBe('projectshown to the sandbox');
      swap();
      expect(await show(swapped)).toBe('shown to the sandbox');
      await expect(
        swapped.readFile({ path: `${project}/which.txt`, encoding: 'utf8' }),
      ).rejects.toMatchObject({ name: 'GuestError' });
    });

    it('never shows the other folder, whenever in a call it is swapped', async () => {
      putBack();
      const swapped = await open();
      const swapper = spawn('perl', [
        '-e',
        'my ($path, $other) = @ARGV; for (;;) { rename $path, "$path-aside"; symlink $other, $path; select undef, undef, undef, 0.004; unlink $path; rename "$path-aside", $path; select undef, undef, undef, 0.004 }',
        project,
        other,
      ]);
      const seen = new Set<string>();
      try {
        for (let round = 0; round < 100; round += 1) {
          seen.add(await show(swapped).catch((error: Error) => error.message));
        }
      } finally {
        swapper.kill('SIGKILL');
      }
      expect([...seen].filter((text) => text.includes(CANARY))).toEqual([]);
      // The moment between the look and the mount was met, or it would prove nothing.
      expect([...seen].join()).toContain('swapped for another while the sandbox started');
      expect(seen).toContain('projectshown to the sandbox');
    });
  });

  it('refuses every path that leads out by one error that tells nothing (a-09)', async () => {
    await exec(
      'ln -s /etc leak; ln -s ../../outside out; ln -s /nowhere/notyet dangling; ln -s . loop; ln -s /proc/self/root rootlink',
    );
    const paths = [
      'leak/hostname',
      'leak/passwd',
      'leak/missing',
      'out/new.txt',
      'dangling',
      'rootlink/etc/passwd',
      '../ws-evil/x',
      'a/../../x',
      '/proc/self/environ',
      '/proc/self/root/etc/hostname',
      '/proc/1/root/home/user/x',
      '/dev/null',
      '/etc/passwd',
      '/etc/missing',
      '/',
      '/home',
      '/home/user2/x',
      `${secret}/.env`,
      'file:///etc/hostname',
      'loop/loop/../../../etc/passwd',
      `${allowed}/leak`,
      '/opt/vitto/bin/node',
    ];
    const texts = new Set<string>();
    const calls: ((path: string) => Promise<unknown>)[] = [
      (path) => session.readFile({ path, encoding: 'utf8' }),
      (path) => session.writeFile({ path, content: 'x', encoding: 'utf8' }),
      (path) => session.listFiles({ path }),
      (path) => session.search({ pattern: 'root', path, timeoutMs: 5000 }),
    ];
    for (const path of paths) {
      for (const call of calls) {
        const error = await call(path).then(
          () => null,
          (thrown: Error & { code: string; hint: string }) => thrown,
        );
        expect(error?.code, `${path} ${call.toString()}`).toBe('outside');
        texts.add(`${error?.message} ${error?.hint}`);
      }
    }
    expect(texts.size).toBe(1);
    expect(existsSync(join(root, 'sandboxes/isolated/outside'))).toBe(false);
    expect(
      await session
        .readFile({ path: 'loop/loop/loop', encoding: 'utf8' })
        .catch((e: { code: string }) => e.code),
    ).toBe('not-a-file');
  });

  it('writes through a link that stays inside', async () => {
    await exec('mkdir -p real; ln -s real link; ln -s /tmp/linked tolink');
    await session.writeFile({ path: 'link/f.txt', content: 'through', encoding: 'utf8' });
    await session.writeFile({ path: 'tolink', content: 'tmp', encoding: 'utf8' });
    expect((await exec('cat real/f.txt /tmp/linked; readlink tolink')).stdout.text).toBe(
      'throughtmp/tmp/linked\n',
    );
    expect(existsSync('/tmp/linked')).toBe(false);
  });

  it('never loses the race when a folder is swapped for a link, in 200 tries (a-09)', async () => {
    const { processId } = await session.startProcess({
      command: `mkdir -p sw/real; echo inside > sw/real/passwd; cd sw; cp -r real target
        exec perl -e 'for (;;) { rename "target", "aside"; symlink "/etc", "target"; select undef, undef, undef, 0.0005; unlink "target"; rename "aside", "target"; select undef, undef, undef, 0.0005 }'`,
    });
    const seen: Record<string, number> = {};
    for (let round = 0; round < 200; round += 4) {
      const results = await Promise.all([
        session.readFile({ path: 'sw/target/passwd', encoding: 'utf8' }).then(
          (read) => read.content,
          (error: { code: string }) => error.code,
        ),
        session.writeFile({ path: 'sw/target/new', content: 'x', encoding: 'utf8' }).then(
          () => 'written',
          (error: { code: string }) => error.code,
        ),
        session.listFiles({ path: 'sw/target' }).then(
          (list) => list.entries.map(({ path }) => path).join(),
          (error: { code: string }) => error.code,
        ),
        session.search({ pattern: 'root', path: 'sw/target', timeoutMs: 5000 }).then(
          (found) => `found ${found.matches.length}`,
          (error: { code: string }) => error.code,
        ),
      ]);
      for (const result of results) seen[result] = (seen[result] ?? 0) + 1;
    }
    await session.stopProcess({ processId });
    const harmless =
      /^(inside\n|written|outside|not-found|not-a-directory|bad-path|found 0|(sw\/target\/(passwd|new),?)+)$/;
    expect(Object.keys(seen).filter((result) => !harmless.test(result))).toEqual([]);
    // Both sides of the race were met, or it would prove nothing.
    expect(seen.outside).toBeGreaterThan(0);
    expect(Object.keys(seen).length).toBeGreaterThan(2);
    expect(existsSync('/etc/new')).toBe(false);
    expect(readFileSync('/etc/passwd', 'utf8')).not.toBe('x');
  }, 120_000);

  it('runs as a user of its own that owns nothing else', async () => {
    await exec('sleep 0.1; touch mine');
    expect((await exec('stat -c %U mine; id -un')).stdout.text).toBe('user\nuser\n');
    // Of this test's own sandboxes: others may run on the machine.
    const elsewhere = new ProcessSandboxService({ root: join(root, 'elsewhere') });
    const other = await elsewhere.open({ taskId: 'other', readOnlyPaths: [] });
    await other.startProcess({ command: 'sleep 60' });
    const ours = hostProcesses('supervisor.pl').filter((line) => line.includes(join(root, 'sandboxes')));
    await elsewhere.close('other');
    expect(ours).toEqual([]);
  });
});
