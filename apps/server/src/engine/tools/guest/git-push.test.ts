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
      if (request.command.includes('symbolic-ref')) return ended(0, 'topic\n');
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

describe('git_push', () => {
  it('allows a push to the repository of the remote, for as long as it pushes', async () => {
    const { calls, requests, guest, tool } = setUp();
    const { result } = await runTool(tool, { path: "w'; rm -rf /" }, guest);
    expect(result).toMatchObject({ status: 'ok', text: expect.stringContaining('Done') });
    expect(calls).toEqual([
      'allow t ssh://git@forge.test/~/org/a.git',
      'push origin refs/heads/topic:refs/heads/topic',
      'withdraw',
    ]);
    for (const { command } of requests) expect(command).not.toContain('rm -rf');
    expect(requests[0]?.env).toMatchObject({ VITTO_PATH: "w'; rm -rf /" });
  });

  it('pushes one branch to another', async () => {
    const { calls, guest, tool } = setUp();
    await runTool(tool, { path: 'w', remote: 'up', branch: 'a/b', to: 'c' }, guest);
    expect(calls).toContain('push up refs/heads/a/b:refs/heads/c');
  });

  it('takes the permit back when the push fails or is cut off', async () => {
    const failed = setUp({ push: ended(1, '', 'rejected') });
    const { result } = await runTool(failed.tool, { path: 'w' }, failed.guest);
    expect(result).toMatchObject({ status: 'error', text: expect.stringContaining('rejected') });
    expect(failed.calls.at(-1)).toBe('withdraw');
    const cut = setUp({ push: new Error('cut') });
    await expect(runTool(cut.tool, { path: 'w' }, cut.guest)).rejects.toThrow('cut');
    expect(cut.calls.at(-1)).toBe('withdraw');
  });

  it('allows nothing for a remote that is none, or is not behind SSH', async () => {
    const none = setUp({ url: ended(2, '', 'No such remote') });
    expect((await runTool(none.tool, { path: 'w' }, none.guest)).result.text).toContain('No such remote');
    const web = setUp({ url: ended(0, 'https://forge.test/org/a.git\n') });
    expect((await runTool(web.tool, { path: 'w' }, web.guest)).result.text).toContain(
      'A deploy key is for SSH',
    );
    expect([...none.calls, ...web.calls]).toEqual([]);
  });

  it('says why it cannot in the process sandbox, and what the host refuses', async () => {
    const { tool, guest } = setUp();
    const degraded = await runTool(tool, { path: 'w' }, { ...guest, kind: 'process-sandbox' });
    expect(degraded.result.text).toContain('has no network');
    const refusing = createGitPush(async () =>
      Promise.reject(new AppError('sandbox.not-found', 'The task has no VM.')),
    );
    expect((await runTool(refusing, { path: 'w' }, guest)).result.text).toBe('The task has no VM.');
  });

  it.each([
    { branch: '+main' },
    { branch: 'a:b' },
    { branch: '--force' },
    { branch: '-f' },
    { to: 'a..b' },
    { remote: '-x' },
    { remote: 'ext::sh' },
    { branch: '' },
  ])('takes nothing that forces, deletes or is an option: %j', (more) => {
    expect(setUp().tool.input.safeParse({ path: 'w', ...more }).success).toBe(false);
  });
});
