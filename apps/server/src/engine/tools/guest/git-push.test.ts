import type { ExecRequest, ExecResult, GuestSession } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../kernel/app-error.ts';
import { createGitPush } from './git-push.ts';
import { runTool } from './guest-tools.testing.ts';

const outputOf = (text: string) => ({ text, totalBytes: text.length, missingBytes: 0, replaced: false });
const ended = (exitCode: number, stdout = '', stderr = ''): ExecResult => ({
  exitCode,
  signal: null,
  timedOut: false,
  limit: null,
  stdout: outputOf(stdout),
  stderr: outputOf(stderr),
  durationMs: 1,
  leftoversKilled: 0,
});

function setUp(answers: { url?: ExecResult; push?: ExecResult | Error } = {}) {
  const calls: string[] = [];
  const requests: ExecRequest[] = [];
  const guest: Partial<GuestSession> = {
    kind: 'vm',
    exec: async (request) => {
      requests.push(request);
      if (request.command.includes('get-url')) return answers.url ?? ended(0, 'git@forge.test:org/a.git\n');
      calls.push(`push ${request.env?.['VITTO_REMOTE']} ${request.env?.['VITTO_REFSPEC']}`);
      if (answers.push instanceof Error) throw answers.push;
      return answers.push ?? ended(0, 'Done');
    },
  };
  const tool = createGitPush(async (taskId, repository) => {
    calls.push(`allow ${taskId} ${repository}`);
    return { withdraw: async () => void calls.push('withdraw') };
  });
  return { calls, requests, guest, tool };
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const ARGS = { path: 'w', repository: 'git@forge.test:org/a.git', commit: COMMIT, branch: 'topic' };

describe('git_push', () => {
  it('allows a push to the repository of the remote, for as long as it pushes', async () => {
    const { calls, requests, guest, tool } = setUp();
    const { result } = await runTool(tool, { ...ARGS, path: "w'; rm -rf /" }, guest);
    expect(result).toMatchObject({ status: 'ok', text: expect.stringContaining('Done') });
    expect(calls).toEqual([
      'allow t ssh://git@forge.test/~/org/a.git',
      `push origin ${COMMIT}:refs/heads/topic`,
      'withdraw',
    ]);
    for (const { command } of requests) expect(command).not.toContain('rm -rf');
    expect(requests[0]?.env).toMatchObject({ VITTO_PATH: "w'; rm -rf /" });
  });

  it('pushes to another remote, of the repository that was named alone', async () => {
    const { calls, guest, tool } = setUp({ url: ended(0, 'ssh://git@forge.test/org/a\n') });
    await runTool(tool, { ...ARGS, remote: 'up', branch: 'a/b' }, guest);
    expect(calls).toContain(`push up ${COMMIT}:refs/heads/a/b`);
    const other = setUp({ url: ended(0, 'git@forge.test:org/other.git\n') });
    expect((await runTool(other.tool, ARGS, other.guest)).result).toMatchObject({
      status: 'error',
      text: 'The remote origin leads to git@forge.test:org/other.git, not to git@forge.test:org/a.git.',
    });
    expect(other.calls).toEqual([]);
  });

  it('takes the permit back when the push fails or is cut off', async () => {
    const failed = setUp({ push: ended(1, '', 'rejected') });
    const { result } = await runTool(failed.tool, ARGS, failed.guest);
    expect(result).toMatchObject({ status: 'error', text: expect.stringContaining('rejected') });
    expect(failed.calls.at(-1)).toBe('withdraw');
    const cut = setUp({ push: new Error('cut') });
    await expect(runTool(cut.tool, ARGS, cut.guest)).rejects.toThrow('cut');
    expect(cut.calls.at(-1)).toBe('withdraw');
  });

  it('allows nothing for a remote that is none, or is not behind SSH', async () => {
    const none = setUp({ url: ended(2, '', 'No such remote') });
    expect((await runTool(none.tool, ARGS, none.guest)).result.text).toContain('No such remote');
    const web = setUp({ url: ended(0, 'https://forge.test/org/a.git\n') });
    expect((await runTool(web.tool, ARGS, web.guest)).result.text).toContain('A deploy key is for SSH');
    expect([...none.calls, ...web.calls]).toEqual([]);
  });

  it('says why it cannot in the process sandbox, and what the host refuses', async () => {
    const { tool, guest } = setUp();
    const degraded = await runTool(tool, ARGS, { ...guest, kind: 'process-sandbox' });
    expect(degraded.result.text).toContain('has no network');
    const refusing = createGitPush(async () =>
      Promise.reject(new AppError('sandbox.not-found', 'The task has no VM.')),
    );
    expect((await runTool(refusing, ARGS, guest)).result.text).toBe('The task has no VM.');
  });

  it.each([
    { branch: '+main' },
    { branch: 'a:b' },
    { branch: '--force' },
    { branch: '-f' },
    { branch: 'a..b' },
    { branch: '' },
    { remote: '-x' },
    { remote: 'ext::sh' },
    { commit: 'HEAD' },
    { commit: '' },
    { commit: `+${COMMIT}` },
  ])('takes nothing that forces, deletes or is an option: %j', (more) => {
    expect(setUp().tool.input.safeParse({ ...ARGS, ...more }).success).toBe(false);
  });
});
