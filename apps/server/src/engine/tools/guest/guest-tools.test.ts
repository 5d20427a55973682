import { GuestError, type ExecRequest, type ExecResult } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { FakeArtifacts, runTool } from './guest-tools.testing.ts';
import { createGuestTools } from './index.ts';
import type { Tool } from '../tool.ts';

const tool = (name: string): Tool => createGuestTools().tools.find((each) => each.name === name) as Tool;
const captured = (text: string): ExecResult['stdout'] => ({
  text,
  totalBytes: Buffer.byteLength(text),
  missingBytes: 0,
  replaced: false,
});
const ended: ExecResult = {
  exitCode: 0,
  signal: null,
  timedOut: false,
  limit: null,
  stdout: captured(''),
  stderr: captured(''),
  durationMs: 1500,
  leftoversKilled: 0,
};
const exec = (result: Partial<ExecResult>) => ({ exec: () => Promise.resolve({ ...ended, ...result }) });

describe('guest tools', () => {
  it('say how they may be run again after a crash', () => {
    expect(
      Object.fromEntries(
        createGuestTools().tools.map(({ name, risk, idempotency }) => [name, `${risk} ${idempotency}`]),
      ),
    ).toEqual({
      run_command: 'write once',
      write_file: 'write idempotent',
      read_file: 'read pure',
      edit_file: 'write once',
      list_files: 'read pure',
      search_code: 'read pure',
      start_process: 'write once',
      read_process: 'read pure',
      stop_process: 'write idempotent',
    });
    for (const each of createGuestTools().tools)
      expect(each).toMatchObject({ tier: 'vm', domain: 'code_execution' });
  });

  it('say what to install where there is no guest', async () => {
    const missing = new GuestError(
      'unavailable',
      'The process sandbox needs bwrap.',
      'Install: apt-get install bubblewrap',
    );
    const { result } = await runTool(tool('run_command'), { command: 'ls' }, missing);
    expect(result).toMatchObject({
      status: 'error',
      text: 'tool_unavailable: The process sandbox needs bwrap. Install: apt-get install bubblewrap',
    });
  });

  it('turn refusals into results with their code, and pass defects on', async () => {
    const refusing = {
      readFile: () => Promise.reject(new GuestError('outside', 'The path is outside.', 'Use the home.')),
    };
    expect((await runTool(tool('read_file'), { path: '/etc/x' }, refusing)).result).toMatchObject({
      status: 'error',
      text: 'outside: The path is outside. Use the home.',
      data: { code: 'outside' },
    });
    await expect(runTool(tool('read_file'), { path: 'x' }, new TypeError('defect'))).rejects.toThrow(
      'defect',
    );
  });
});

describe('run_command', () => {
  const run = tool('run_command');

  it('gives exit code and both streams', async () => {
    const { result } = await runTool(
      run,
      { command: 'x' },
      exec({ exitCode: 2, stdout: captured('out\n'), stderr: captured('\u001b[31merr\u001b[0m\n') }),
    );
    expect(result).toMatchObject({
      status: 'error',
      data: { exitCode: 2, durationMs: 1500, stdoutBytes: 4 },
    });
    expect(result.text).toBe('Exit code 2.\n--- stdout ---\nout\n--- stderr ---\nerr');
  });

  it('says why it ended', async () => {
    const textOf = async (how: Partial<ExecResult>): Promise<string> =>
      (await runTool(run, { command: 'x' }, exec(how))).result.text;
    expect(await textOf({})).toBe('Exit code 0.\nThere was no output.');
    expect(await textOf({ exitCode: null, timedOut: true, signal: 'SIGKILL' })).toContain(
      'at its time limit',
    );
    expect(await textOf({ exitCode: null, signal: 'SIGSEGV' })).toContain('ended by SIGSEGV');
    expect(await textOf({ exitCode: 137, limit: 'memory' })).toContain('more memory than allowed (256 MiB');
    expect(await textOf({ leftoversKilled: 2 })).toContain(
      '2 processes that it left running were ended; use start_process',
    );
    expect(await textOf({ stdout: { text: 'a', totalBytes: 9, missingBytes: 8, replaced: true } })).toContain(
      '--- stdout (9 bytes, 8 of them not shown; not all of it UTF-8) ---',
    );
    expect((await runTool(run, { command: 'x' }, exec({ timedOut: true }))).result.status).toBe('timeout');
  });

  const printing = (chunks: number, onDone: Partial<ExecResult> = {}) => ({
    exec: async (request: ExecRequest) => {
      for (let index = 0; index < chunks; index += 1)
        await request.spool?.('stdout', Buffer.from(`${index}`.padEnd(64 * 1024, '.')));
      return { ...ended, ...onDone };
    },
  });

  it('keeps long output whole as an artifact', async () => {
    const artifacts = new FakeArtifacts();
    const { result } = await runTool(run, { command: 'x' }, printing(40), artifacts);
    expect(result.text).toContain('The whole output is kept as artifact artifact-1');
    expect(result.artifacts).toEqual([
      {
        id: 'artifact-1',
        name: 'output-call-1.txt',
        mediaType: 'text/plain; charset=utf-8',
        bytes: 40 * 64 * 1024,
      },
    ]);
    const kept = artifacts.kept.get('output-call-1.txt') ?? '';
    expect(kept).toHaveLength(40 * 64 * 1024);
    expect(kept.match(/\d+/g)?.map(Number)).toEqual(Array.from({ length: 40 }, (_, index) => index));
  });

  it('makes no artifact of short output', async () => {
    const artifacts = new FakeArtifacts();
    expect((await runTool(run, { command: 'x' }, printing(2), artifacts)).result.artifacts).toBeUndefined();
    expect(artifacts.kept.size).toBe(0);
  });

  it('returns the result although the output could not be kept', async () => {
    const artifacts = new FakeArtifacts(1_500_000);
    const { result } = await runTool(
      run,
      { command: 'x' },
      printing(40, { stdout: captured('shown') }),
      artifacts,
    );
    expect(result).toMatchObject({ status: 'ok', data: { exitCode: 0 } });
    expect(result.text).toContain('not kept: no space left on device');
    expect(result.text).toContain('shown');
    expect(artifacts.aborted).toBe(1);
  });

  it('leaves no artifact of a command that was cancelled', async () => {
    const artifacts = new FakeArtifacts();
    const cancelled = {
      exec: async (request: ExecRequest): Promise<ExecResult> => {
        await request.spool?.('stdout', Buffer.alloc(2 * 1024 * 1024));
        throw new Error('cancelled');
      },
    };
    await expect(runTool(run, { command: 'x' }, cancelled, artifacts)).rejects.toThrow('cancelled');
    expect(artifacts).toMatchObject({ aborted: 1, kept: new Map() });
  });

  it('shows progress as plain text, sequences cut between chunks included', async () => {
    const live = {
      exec: (request: ExecRequest): Promise<ExecResult> => {
        for (const text of ['10%\r', '20%\r100%\n\u001b]8;;java', 'script:x\u001b\\link\u001b]8;;\u0007\n'])
          request.onOutput?.('stdout', text);
        request.onOutput?.('stderr', 'last');
        return Promise.resolve(ended);
      },
    };
    expect((await runTool(run, { command: 'x' }, live)).progress).toEqual([
      'stdout:100%\n',
      'stdout:link\n',
      'stderr:last',
    ]);
  });
});

describe('edit_file', () => {
  const file = (content: string) => ({
    content,
    size: content.length,
    offset: 0,
    bytes: content.length,
    truncated: false,
    binary: false,
    sha256: 'hash',
  });

  it('writes only over what it has read', async () => {
    const written: unknown[] = [];
    const guest = {
      readFile: () => Promise.resolve(file('a b c')),
      writeFile: (request: { path: string; content: string }) => {
        written.push(request);
        return Promise.resolve({ path: request.path, bytes: 5, created: false });
      },
    };
    const { result } = await runTool(tool('edit_file'), { path: 'f', oldText: 'b', newText: 'B' }, guest);
    expect(result).toMatchObject({
      status: 'ok',
      text: 'Changed one place in f (5 bytes).',
      data: { replacements: 1 },
    });
    expect(written).toMatchObject([{ path: 'f', content: 'a B c', expectSha256: 'hash' }]);
  });

  it('refuses a file that has changed, is too large or is not text', async () => {
    const textOf = async (part: object, more: object = {}): Promise<string> => {
      const guest = { readFile: () => Promise.resolve({ ...file('abc'), ...part }) };
      return (await runTool(tool('edit_file'), { path: 'f', oldText: 'a', newText: 'b', ...more }, guest))
        .result.text;
    };
    expect(await textOf({}, { expectSha256: 'other' })).toMatch(/^changed: /);
    expect(await textOf({ truncated: true })).toMatch(/^too-large: /);
    expect(await textOf({ binary: true })).toMatch(/^not-a-file: /);
  });
});
