import { generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, formatHostKey, parseHostKey } from './host-key.ts';
import { publishedFingerprints } from './known-forges.ts';
import { makeKeyPair, readKeyPair } from './private-key.ts';
import { isSameRepository, normalizeRepository, parseRepository, showRepository } from './repository.ts';

const codeOf = (work: () => unknown): unknown => {
  try {
    return work() && undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('the address of a repository', () => {
  it.each([
    ['git@github.com:org/name.git', 'ssh://git@github.com/~/org/name.git'],
    ['github.com:org/name', 'ssh://git@github.com/~/org/name'],
    [' git@GitHub.com.:org/name/ ', 'ssh://git@github.com/~/org/name'],
    ['git@host:~/name.git', 'ssh://git@host/~/name.git'],
    ['git@host:/srv/name.git', 'ssh://git@host/srv/name.git'],
    ['ssh://host/srv/name.git', 'ssh://git@host/srv/name.git'],
    ['ssh://git@host:22/srv/name.git', 'ssh://git@host/srv/name.git'],
    ['git+ssh://me@host:2222/~/name', 'ssh://me@host:2222/~/name'],
    ['ssh://git@host/v3/My%20Project/a+b', 'ssh://git@host/v3/My%20Project/a+b'],
    ['git@192.168.1.5:name', 'ssh://git@192.168.1.5/~/name'],
  ])('%s is %s', (address, canonical) => {
    expect(normalizeRepository(address)).toBe(canonical);
    expect(normalizeRepository(canonical)).toBe(canonical);
    expect(normalizeRepository(showRepository(parseRepository(address)))).toBe(canonical);
  });

  it.each([
    'https://github.com/org/name.git',
    'file:///srv/name.git',
    '/srv/name.git',
    'name.git',
    '',
    'git@host:',
    'git@host:/',
    'git@host:../name',
    'git@host:a/../../b',
    'git@host:a//b',
    'git@host:a/./b',
    'git@host:-upload',
    'git@host:~root/name',
    'git@host:a\nb',
    'git@host:a\0b',
    '-oProxyCommand=x:name',
    'git@-oProxyCommand=x:name',
    '-l@host:name',
    'ssh://git@-host/name',
    'ssh://git:pw@host/name',
    'ssh://git@host:99999/name',
    'ssh://git@host:0/name',
    'ssh://git@host/%2e%2e/name',
    'ssh://git@host/%',
    'ssh://git@host/a%00b',
    'ssh://git@ho st/name',
    'ssh://git@[::1]/name',
    `git@host:${'a'.repeat(600)}`,
  ])('%s is refused', (address) => {
    expect(codeOf(() => normalizeRepository(address))).toBe('repository.bad-address');
  });

  it('is compared as forges do: with or without the slash and the .git, and nothing else', () => {
    const asked = parseRepository('git@host:org/a.git');
    const same = (text: string) => isSameRepository(asked, parseRepository(text));
    expect([same('ssh://git@host/org/a'), same('git@host:org/a')]).toEqual([true, true]);
    for (const other of [
      'me@host:org/a',
      'git@host2:org/a',
      'git@host:org/A',
      'git@host:org/a.git.git',
      'ssh://git@host:2/org/a',
    ]) {
      expect(same(other)).toBe(false);
    }
  });
});

describe('host keys', () => {
  const GITHUB = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
  const GITLAB = 'AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf';
  const BITBUCKET = 'AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO';

  it.each([
    ['github.com', GITHUB],
    ['gitlab.com', GITLAB],
    ['bitbucket.org', BITBUCKET],
  ])('of %s have the fingerprint that is published', (host, base64) => {
    const key = parseHostKey(`${host} ssh-ed25519 ${base64}`);
    expect(publishedFingerprints(host)).toContain(fingerprintOf(key.blob));
    expect(formatHostKey(key)).toBe(`ssh-ed25519 ${base64}`);
  });

  it.each([
    '',
    'ssh-ed25519',
    `ssh-rsa ${GITHUB}`,
    `ssh-dss ${GITHUB}`,
    'ssh-ed25519 AAAA',
    `@revoked host ssh-ed25519 ${GITHUB}`,
    'ssh-ed25519 not*base64',
  ])('%s is refused', (line) => {
    expect(codeOf(() => parseHostKey(line))).toBe('host-key.unreadable');
  });
});

describe('private keys', () => {
  it('are made, read, and shown by their public half', () => {
    const made = makeKeyPair();
    expect(made.publicKey).toMatch(/^ssh-ed25519 \S+ vitto$/);
    expect(readKeyPair(made.privateKey.replaceAll('\n', '\r\n').trim())).toEqual(made);
  });

  it('are taken as ECDSA and RSA, in PEM too', () => {
    const ec = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
    expect(readKeyPair(ec.private).publicKey).toMatch(/^ecdsa-sha2-nistp256 /);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(readKeyPair(pem).publicKey).toMatch(/^ssh-rsa /);
  });

  it('are refused with what to do when locked, short, public or none', () => {
    const locked = ssh2.utils.generateKeyPairSync('ed25519', {
      passphrase: 'x',
      cipher: 'aes256-cbc',
      rounds: 1,
    });
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const pem = short.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(codeOf(() => readKeyPair(locked.private))).toBe('private-key.encrypted');
    expect(codeOf(() => readKeyPair(pem))).toBe('private-key.weak');
    expect(codeOf(() => readKeyPair(makeKeyPair().publicKey))).toBe('private-key.is-public');
    expect(codeOf(() => readKeyPair('-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA'))).toBe(
      'private-key.unreadable',
    );
    expect(codeOf(() => readKeyPair('hello'))).toBe('private-key.unreadable');
  });
});
