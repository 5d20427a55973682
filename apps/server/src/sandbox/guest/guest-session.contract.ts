import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecRequest, ExecResult, GuestErrorCode, GuestSession } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What a provider's test hands in. `close` ends the session and removes its files. */
export interface GuestUnderTest {
  open: () => Promise<GuestSession>;
  close: () => Promise<void>;
}

/** Perl, for every guest has it and starts it fast. */
const SERVER = `use IO::Socket::INET; $| = 1;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1:8123', Listen => 1, ReuseAddr => 1) or die "$@";
print "listening\\n"; while (my $client = $server->accept) { print $client "hello\\n"; close $client }`;
const CLIENT = `use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1:8123') or die "$@"; print <$s>;`;

/** What every guest must do, whatever it runs on. Each provider's live test calls this. */
export function describeGuestSession(name: string, guestUnderTest: GuestUnderTest): void {
  describe(`${name} as a guest`, () => {
    let guest: GuestSession;
    beforeAll(async () => {
      guest = await guestUnderTest.open();
    });
    afterAll(() => guestUnderTest.close());

    const exec = (command: string, options: Partial<ExecRequest> = {}): Promise<ExecResult> =>
      guest.exec({ command, timeoutMs: 20_000, ...options });
    const write = (path: string, content: string): Promise<unknown> =>
      guest.writeFile({ path, content, encoding: 'utf8' });
    const read = async (path: string): Promise<string> =>
      (await guest.readFile({ path, encoding: 'utf8' })).content;
    const codeOf = (work: Promise<unknown>): Promise<GuestErrorCode | 'no error'> =>
      work.then(
        () => 'no error' as const,
        (error: { code: GuestErrorCode }) => error.code,
      );

    describe('commands', () => {
      it('returns output, exit code and both streams apart', async () => {
        const result = await exec('echo out; echo err >&2; exit 3');
        expect(result).toMatchObject({ exitCode: 3, signal: null, timedOut: false, limit: null });
        expect([result.stdout.text, result.stderr.text]).toEqual(['out\n', 'err\n']);
      });

      it('tells a signal from an exit code that looks like one', async () => {
        expect(await exec('kill -9 $$')).toMatchObject({
          exitCode: null,
          signal: 'SIGKILL',
          timedOut: false,
        });
        expect(await exec('exit 137')).toMatchObject({ exitCode: 137, signal: null });
      });

      it('starts in the home, with standard input at its end, in UTF-8', async () => {
        expect((await exec('pwd; cat; echo "$LC_ALL"')).stdout.text).toBe(`${guest.home}\nC.UTF-8\n`);
      });

      it('passes standard input, environment and working directory as they are', async () => {
        await exec('mkdir -p "a b"');
        const env = { NAME: '$(touch pwned) "\'`x`' };
        const result = await exec('cat /dev/stdin; echo "$NAME"; pwd', { stdin: 'in', env, cwd: 'a b' });
        expect(result.stdout.text).toBe(`in${env.NAME}\n${guest.home}/a b\n`);
        expect(await codeOf(exec('true', { cwd: 'missing' }))).toBe('not-found');
      });

      it('lets /dev/stdout and /dev/stderr be opened', async () => {
        const result = await exec(
          'echo a >/dev/stdout; echo b >/dev/stderr; echo c | tee /dev/stderr >/dev/null',
        );
        expect([result.stdout.text, result.stderr.text]).toEqual(['a\n', 'b\nc\n']);
      });

      it('decodes characters that arrive in pieces and marks bytes that are no text', async () => {
        const whole = await exec("printf '\\360\\237'; sleep 0.2; printf '\\246\\212'");
        expect(whole.stdout).toMatchObject({ text: '🦊', replaced: false });
        expect((await exec("printf '\\377ok'")).stdout).toMatchObject({ text: '\ufffdok', replaced: true });
      });

      it('keeps NUL bytes and the six characters that look like one (a-06)', async () => {
        expect((await exec("printf 'W\\0s\\0l\\0'")).stdout.text).toBe('W\0s\0l\0');
        expect((await exec("printf '%s' 'the literal \\u0000 stays'")).stdout.text).toBe(
          'the literal \\u0000 stays',
        );
      });

      it('answers when the shell exits, and says what it left running (a-02)', async () => {
        const result = await exec('(sleep 60 &) ; echo ready');
        expect(result).toMatchObject({ exitCode: 0, leftoversKilled: 1, stdout: { text: 'ready\n' } });
        expect(result.durationMs).toBeLessThan(30_000);
        const server = await exec('nohup python3 -m http.server 8765 >/dev/null 2>&1 & echo up');
        expect(server.stdout.text).toBe('up\n');
      });

      it('is not worn out by twenty commands that leave children (a-02)', async () => {
        for (let round = 0; round < 20; round += 1)
          await exec('(sleep 60 &) ; (sleep 61 | sleep 62 &) ; echo ready');
        expect((await exec('echo ok')).stdout.text).toBe('ok\n');
      });

      it('ends the whole tree at a time-out, the deaf included, and keeps what was printed (a-01)', async () => {
        const command =
          'trap "" TERM; (trap "" TERM; touch alive.txt; sleep 6; touch late.txt; sleep 4711) & echo started; wait';
        const startedAt = performance.now();
        const result = await exec(command, { timeoutMs: 2000 });
        expect(result).toMatchObject({ timedOut: true, exitCode: null, stdout: { text: 'started\n' } });
        expect((await exec('ls alive.txt; echo next')).stdout.text).toBe('alive.txt\nnext\n');
        await sleep(Math.max(0, 7500 - (performance.now() - startedAt)));
        expect((await exec('ls late.txt')).exitCode).not.toBe(0);
      });

      it('lets a command tidy up at its time-out', async () => {
        const result = await exec('trap "echo bye; exit 0" TERM; echo hi; while :; do sleep 0.1; done', {
          timeoutMs: 1000,
        });
        expect(result).toMatchObject({ timedOut: true, stdout: { text: 'hi\nbye\n' } });
      });

      it('ends the whole tree promptly when the caller aborts', async () => {
        const cancel = new AbortController();
        const running = exec(
          'trap "" TERM; touch began.txt; (sleep 6; touch after-cancel.txt) & wait; sleep 4712',
          {
            signal: cancel.signal,
          },
        );
        const outcome = running.catch((error: unknown) => error);
        await until(async () => (await exec('ls began.txt')).exitCode === 0);
        cancel.abort(new Error('cancelled by test'));
        expect(await outcome).toMatchObject({ message: 'cancelled by test' });
        await sleep(6500);
        expect((await exec('ls after-cancel.txt')).exitCode).not.toBe(0);
      });

      it('does not start anything for a caller that has aborted already', async () => {
        await expect(
          exec('touch never.txt', { signal: AbortSignal.abort(new Error('too late')) }),
        ).rejects.toThrow('too late');
        expect((await exec('ls never.txt')).exitCode).not.toBe(0);
      });

      it('keeps head and tail of long output and gives all of it to the spool, in order', async () => {
        const hash = createHash('sha256');
        let bytes = 0;
        const spool = async (_: string, chunk: Uint8Array): Promise<void> => {
          hash.update(chunk);
          bytes += chunk.length;
          await sleep(1);
        };
        const { stdout } = await exec('seq 1 600000', { spool });
        const expected = Array.from({ length: 600_000 }, (_, index) => `${index + 1}\n`).join('');
        expect(stdout.totalBytes).toBe(expected.length);
        expect(bytes).toBe(expected.length);
        expect(hash.digest('hex')).toBe(createHash('sha256').update(expected).digest('hex'));
        expect(stdout.text.startsWith('1\n2\n')).toBe(true);
        expect(stdout.text.endsWith('599999\n600000\n')).toBe(true);
        expect(stdout.missingBytes).toBeGreaterThan(0);
        expect(stdout.text).toContain(`[… ${stdout.missingBytes} bytes not shown …]`);
      });

      it('ends a command whose output never ends', async () => {
        const result = await exec('yes', { timeoutMs: 60_000 });
        expect(result.limit).toBe('output');
        expect(result.stdout.text.length).toBeLessThan(2_000_000);
      });

      it('returns the result although the spool fails', async () => {
        const failing = async (): Promise<void> => Promise.reject(new Error('disk full'));
        expect(await exec('seq 1 100000', { spool: failing })).toMatchObject({
          exitCode: 0,
          stdout: { totalBytes: 588_895 },
        });
      });

      it('reports output while the command runs', async () => {
        const seen: string[] = [];
        let whenFirst = 0;
        const startedAt = performance.now();
        const onOutput = (stream: string, text: string): void => {
          whenFirst ||= performance.now() - startedAt;
          seen.push(`${stream}:${text}`);
        };
        const result = await exec('echo one; sleep 2; echo two >&2', { onOutput });
        expect(seen).toEqual(['stdout:one\n', 'stderr:two\n']);
        expect(whenFirst).toBeLessThan(result.durationMs - 500);
      });
    });

    describe('files', () => {
      it('writes, reads, and makes folders, with the mode asked for', async () => {
        const written = await guest.writeFile({
          path: 'deep/er/run.sh',
          content: '#!/bin/sh\necho ran',
          encoding: 'utf8',
          mode: 0o755,
        });
        expect(written).toEqual({ path: 'deep/er/run.sh', bytes: 18, created: true });
        expect((await exec('./deep/er/run.sh')).stdout.text).toBe('ran\n');
        expect(
          await guest.writeFile({ path: 'deep/er/run.sh', content: 'x', encoding: 'utf8' }),
        ).toMatchObject({ created: false });
        expect((await exec('stat -c %a deep/er/run.sh; ls -A deep/er')).stdout.text).toBe('755\nrun.sh\n');
      });

      it('reads parts, says what is left, and does not cut a character', async () => {
        await write('fox.txt', 'a🦊b');
        const part = await guest.readFile({ path: 'fox.txt', length: 3, encoding: 'utf8' });
        expect(part).toMatchObject({ content: 'a', bytes: 1, size: 6, truncated: true, sha256: null });
        const rest = await guest.readFile({ path: 'fox.txt', offset: 1, encoding: 'utf8' });
        expect(rest).toMatchObject({ content: '🦊b', truncated: true, binary: false });
      });

      it('carries any bytes', async () => {
        const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
        await guest.writeFile({ path: 'bytes.bin', content: bytes.toString('base64'), encoding: 'base64' });
        const read = await guest.readFile({ path: 'bytes.bin', encoding: 'base64' });
        expect(read).toMatchObject({
          size: 70_000,
          binary: true,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        });
        expect(Buffer.from(read.content, 'base64').equals(bytes)).toBe(true);
      });

      it('carries 16 MB', async () => {
        const content = 'x'.repeat(16 * 1024 * 1024);
        await write('large.txt', content);
        const read = await guest.readFile({ path: 'large.txt', length: 32 * 1024 * 1024, encoding: 'utf8' });
        expect(read.size).toBe(content.length);
        expect(read.content === content).toBe(true);
      });

      it('overwrites only what the caller has seen', async () => {
        await write('seen.txt', 'one');
        const { sha256 } = await guest.readFile({ path: 'seen.txt', encoding: 'utf8' });
        await write('seen.txt', 'two');
        const late = {
          path: 'seen.txt',
          content: 'three',
          encoding: 'utf8',
          expectSha256: sha256 ?? '',
        } as const;
        expect(await codeOf(guest.writeFile(late))).toBe('changed');
        expect(await codeOf(guest.writeFile({ ...late, expectSha256: 'absent' }))).toBe('changed');
        expect(await read('seen.txt')).toBe('two');
        await guest.writeFile({
          path: 'fresh.txt',
          content: 'new',
          encoding: 'utf8',
          expectSha256: 'absent',
        });
        expect(await read('fresh.txt')).toBe('new');
      });

      it('refuses paths that are none', async () => {
        for (const path of ['', 'notes\u0000.txt', 'notes\\x00.txt']) {
          expect(await codeOf(guest.readFile({ path, encoding: 'utf8' })), path).toBe('bad-path');
          expect(await codeOf(write(path, 'x')), path).toBe('bad-path');
          expect(await codeOf(guest.listFiles({ path })), path).toBe('bad-path');
        }
        expect(await codeOf(read('missing.txt'))).toBe('not-found');
        await exec('mkdir -p folder; mkfifo fifo');
        expect(await codeOf(read('folder'))).toBe('not-a-file');
        expect(await codeOf(read('fifo'))).toBe('not-a-file');
        expect(await codeOf(write('folder', 'x'))).toBe('not-a-file');
        expect(await codeOf(guest.listFiles({ path: 'fox.txt' }))).toBe('not-a-directory');
      });

      it('lists a folder of 100,000 files and odd names whole, page by page (a-11)', async () => {
        await exec(
          `mkdir many && cd many && seq -f 'f%06.0f' 1 100000 | xargs touch
          touch "$(printf 'caf\\351-\\377.txt')" "$(printf 'a\\nb')" ./-rf ' lead' '猫 🦊.txt' 'back\\x41slash' "$(printf '%0255d' 0)"
          for f in ./caf*; do echo odd > "$f"; done; echo dash > ./-rf; echo cat > '猫 🦊.txt'; echo back > 'back\\x41slash'`,
          { timeoutMs: 120_000 },
        );
        const first = await guest.listFiles({ path: 'many', limit: 1000 });
        expect(first.entries).toHaveLength(1000);
        expect(first.total).toBe(100_007);

        const names: string[] = [];
        let cursor: string | null | undefined;
        do {
          const page = await guest.listFiles({
            path: 'many',
            limit: 5000,
            ...(cursor == null ? {} : { cursor }),
          });
          names.push(...page.entries.map((entry) => entry.path));
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(names).toHaveLength(100_007);
        expect(new Set(names).size).toBe(100_007);
        expect(names.slice(0, 1000)).toEqual(first.entries.map((entry) => entry.path));
        expect(names.some((name) => name.includes('\n'))).toBe(false);

        const contents = {
          'many/caf\\xe9-\\xff.txt': 'odd\n',
          'many/-rf': 'dash\n',
          'many/猫 🦊.txt': 'cat\n',
          'many/back\\x5cx41slash': 'back\n',
        };
        for (const [path, content] of Object.entries(contents)) {
          expect(names).toContain(path);
          expect(await read(path)).toBe(content);
        }
        expect(names).toEqual(
          expect.arrayContaining(['many/\\x20lead', 'many/a\\x0ab', `many/${'0'.repeat(255)}`]),
        );
        await exec('rm -rf many', { timeoutMs: 120_000 });
      }, 600_000);

      it('lists several levels and does not follow links', async () => {
        await exec('mkdir -p tree/a/b; touch tree/a/b/c; ln -s . tree/loop; ln -s /etc tree/etc');
        const { entries } = await guest.listFiles({ path: 'tree', depth: 5 });
        expect(entries.map(({ path, type }) => `${type} ${path}`)).toEqual([
          'directory tree/a',
          'directory tree/a/b',
          'file tree/a/b/c',
          'symlink tree/etc',
          'symlink tree/loop',
        ]);
      });
    });

    describe('search', () => {
      const search = (pattern: string, options: object = {}): ReturnType<GuestSession['search']> =>
        guest.search({ pattern, path: 'code', timeoutMs: 20_000, ...options });

      beforeAll(async () => {
        await exec(`mkdir -p code/node_modules code/.git; printf 'usage: tool --help\\nhello -world\\n' > code/usage.txt
          echo 'hello there' > code/node_modules/dep.js; echo 'hello there' > code/.git/config; echo 'a[b' > code/odd.ts
          printf '#!/bin/sh\\ntouch /tmp/marker ~/marker\\n' > /tmp/p.sh; chmod +x /tmp/p.sh`);
      });

      it('takes patterns that look like options as patterns (a-07)', async () => {
        expect((await search('--help')).matches).toEqual([
          { path: 'code/usage.txt', line: 1, text: 'usage: tool --help' },
        ]);
        expect((await search('-world')).matches).toEqual([
          { path: 'code/usage.txt', line: 2, text: 'hello -world' },
        ]);
        for (const pattern of ['-f/etc/passwd', '--pre=/tmp/p.sh', '-e', '--include=*']) {
          const found = await search(pattern);
          expect(JSON.stringify(found), pattern).not.toContain('root:');
          expect(found.matches, pattern).toEqual([]);
        }
        expect((await exec('ls /tmp/marker ~/marker')).exitCode).not.toBe(0);
        for (const path of ['-r', '--include=*'])
          expect(await codeOf(search('hello', { path }))).toBe('not-found');
      });

      it('names patterns that are none, and finds nothing quietly (a-07)', async () => {
        for (const pattern of ['', '[', 'a\0b', '('])
          expect(await codeOf(search(pattern)), pattern).toBe('bad-pattern');
        expect(await search('nowhere to be found')).toEqual({
          matches: [],
          truncated: false,
          timedOut: false,
        });
        expect((await search('a[b', { fixed: true })).matches).toHaveLength(1);
      });

      it('is bounded in time whatever the pattern is (a-07)', async () => {
        await exec('head -c 3000000 /dev/zero | tr "\\0" a > code/aaaa.txt; echo b >> code/aaaa.txt');
        await search('(a+)+$');
        expect(await search('(a|aa)+\\1b$', { timeoutMs: 1000 })).toMatchObject({
          timedOut: true,
        });
        await exec('rm code/aaaa.txt');
      });

      it('leaves out version control and dependencies unless the path points there', async () => {
        expect((await search('hello')).matches.map(({ path }) => path)).toEqual(['code/usage.txt']);
        const inside = await search('hello', { path: 'code/node_modules' });
        expect(inside.matches.map(({ path }) => path)).toEqual(['code/node_modules/dep.js']);
      });

      it('narrows by file name and case, and says when there is more', async () => {
        expect((await search('.', { include: '*.ts' })).matches.map(({ path }) => path)).toEqual([
          'code/odd.ts',
        ]);
        expect((await search('HELLO')).matches).toEqual([]);
        expect((await search('HELLO', { ignoreCase: true })).matches).toHaveLength(1);
        expect(await search('l', { maxMatches: 1 })).toMatchObject({
          truncated: true,
          matches: { length: 1 },
        });
      });

      it('neither follows links nor loops (a-09)', async () => {
        await exec('mkdir -p looped; ln -s . looped/loop; ln -s /etc looped/leak; echo findme > looped/f');
        expect((await search('findme|root:', { path: 'looped' })).matches).toHaveLength(1);
      });
    });

    describe('processes', () => {
      it('runs on between calls, is reached on localhost, and is ended with what it started', async () => {
        await write('server.pl', SERVER);
        await write('client.pl', CLIENT);
        const { processId } = await guest.startProcess({ command: 'perl server.pl & wait' });
        await until(async () => (await guest.readProcess({ processId })).text.includes('listening'));
        expect((await exec('perl client.pl')).stdout.text).toBe('hello\n');
        const stopped = await guest.stopProcess({ processId });
        expect(stopped).toMatchObject({ running: false, text: 'listening\n' });
        expect((await exec('perl client.pl')).exitCode).not.toBe(0);
      });

      it('gives output from an offset on and says how it ended', async () => {
        const { processId } = await guest.startProcess({ command: 'echo one; echo two >&2; exit 5' });
        await until(async () => !(await guest.readProcess({ processId })).running);
        const all = await guest.readProcess({ processId });
        expect(all).toMatchObject({ exitCode: 5, signal: null, missingBytes: 0, nextOffset: 8 });
        expect(all.text.split('\n').sort()).toEqual(['', 'one', 'two']);
        expect((await guest.readProcess({ processId, offset: 8 })).text).toBe('');
      });

      it('keeps a bounded part of endless output and says what is missing', async () => {
        const { processId } = await guest.startProcess({ command: 'seq 1 1000000; sleep 60' });
        await until(async () => {
          const { missingBytes, nextOffset } = await guest.readProcess({ processId, offset: 0 });
          return missingBytes > 1_000_000 && nextOffset > 2_000_000;
        });
        expect((await guest.readProcess({ processId, offset: 0 })).text.length).toBeLessThanOrEqual(300_000);
        await guest.stopProcess({ processId });
      });

      it('knows only its own processes', async () => {
        expect(await codeOf(guest.readProcess({ processId: 'nonsense' }))).toBe('no-such-process');
        expect(await codeOf(guest.startProcess({ command: 'true', cwd: 'missing' }))).toBe('not-found');
      });
    });
  });
}

/** Waits for a condition, for half a minute at most. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not come true');
    await sleep(50);
  }
}
