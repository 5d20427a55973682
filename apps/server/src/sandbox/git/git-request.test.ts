import { describe, expect, it } from 'vitest';
import { parseGitRequest, quotePath } from './git-request.ts';

const parse = (...args: string[]) => parseGitRequest(Buffer.from(args.map((one) => `${one}\0`).join('')));

describe('what git asks its ssh command for', () => {
  it.each([
    [['git@github.com', "git-upload-pack 'org/a.git'"], 'git-upload-pack', 22, 'org/a.git', false],
    [
      ['-o', 'SendEnv=GIT_PROTOCOL', '-p', '2222', 'me@host', "git-upload-pack '/srv/a'"],
      'git-upload-pack',
      2222,
      '/srv/a',
      true,
    ],
    [['-4', 'host', "git-receive-pack '/it'\\''s a/b'"], 'git-receive-pack', 22, "/it's a/b", false],
    [['git@host', "git-upload-pack 'wow'\\!''"], 'git-upload-pack', 22, 'wow!', false],
    [['git@host', "git upload-pack 'a'"], 'git-upload-pack', 22, 'a', false],
  ])('%j is read', (args, verb, port, path, isVersion2) => {
    expect(parse(...args)).toMatchObject({ verb, isVersion2, repository: { port, path } });
  });

  it.each([
    [[]],
    [['git@host']],
    [['git@host', '']],
    [['-G', 'host']],
    [['-o', 'ProxyCommand=touch /tmp/x', 'git@host', "git-upload-pack 'a'"]],
    [['-o', 'SendEnv=*', 'git@host', "git-upload-pack 'a'"]],
    [['-p', '0', 'git@host', "git-upload-pack 'a'"]],
    [['-p', '-1', 'git@host', "git-upload-pack 'a'"]],
    [['-p', '99999', 'git@host', "git-upload-pack 'a'"]],
    [['-L', '1:a:2', 'git@host', "git-upload-pack 'a'"]],
    [['git@host', "git-upload-archive 'a'"]],
    [['git@host', 'sh']],
    [['git@host', "git-upload-pack 'a'; id"]],
    [['git@host', "git-upload-pack 'a' 'b'"]],
    [['git@host', "git-upload-pack --strict 'a'"]],
    [['git@host', "git-upload-pack 'a'\n'b'"]],
    [['git@host', 'git-upload-pack a']],
    [['git@host', "git-upload-pack '$(id)"]],
    [['git@host', "git-upload-pack '../a'"]],
    [['git@host', "git-upload-pack '/srv/../a'"]],
    [['git@host', "git-upload-pack '-x'"]],
    [['git@host', "git-upload-pack ''"]],
    [['git@host', "git-upload-pack 'a'", 'more']],
    [['-oProxyCommand=x', "git-upload-pack 'a'"]],
    [['git@host:22', "git-upload-pack 'a'"]],
    [['git@127.0.0.1@host', "git-upload-pack 'a'"]],
    [['git@host', `git-upload-pack '${'a'.repeat(5000)}'`]],
  ])('%j is refused', (args) => {
    expect(() => parse(...args)).toThrow(expect.objectContaining({ name: 'GitRefusal' }));
  });

  it('is refused when it does not end as it must', () => {
    expect(() => parseGitRequest(Buffer.from("git@host\0git-upload-pack 'a'"))).toThrow('cannot be read');
    expect(() => parseGitRequest(Buffer.alloc(0))).toThrow('cannot be read');
  });

  it('is quoted for the shell of the server', () => {
    expect(quotePath("it's $(x) !")).toBe("'it'\\''s $(x) !'");
  });
});
