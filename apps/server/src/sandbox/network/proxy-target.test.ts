import { describe, expect, it } from 'vitest';
import { isHostAllowed } from './allowed-hosts.ts';
import { forwardedHeaders, requestHeaders } from './forwarded-headers.ts';
import { parseAbsoluteUrl, parseAuthority } from './proxy-target.ts';

describe('the target of a CONNECT', () => {
  it.each([
    ['pypi.org:443', 'pypi.org', 443],
    ['PyPI.org.:80', 'pypi.org', 80],
    ['xn--bcher-kva.example:443', 'xn--bcher-kva.example', 443],
    ['1-2.3m.example:443', '1-2.3m.example', 443],
  ])('%s is read', (authority, host, port) => {
    expect(parseAuthority(authority, null)).toEqual({ host, port });
  });

  it.each([
    '127.0.0.1:443',
    '2130706433:443',
    '0x7f000001:443',
    '0x7f.1:443',
    '0177.0.0.1:443',
    '127.1:443',
    '127.0.0.1.:443',
    'example.0x7f:443',
    '[::1]:443',
    '[::ffff:7f00:1]:443',
    '[64:ff9b::a9fe:a9fe]:443',
    '::1:443',
    '①②⑦.⓪.⓪.①:443',
    'localhost:443',
    'localhost.:443',
    'metadata:80',
    'user@pypi.org:443',
    'user:password@pypi.org:443',
    'pypi.org@evil.example:443',
    'pypi.org:22',
    'pypi.org:0443x',
    'pypi.org:99999',
    'pypi.org:',
    'pypi.org',
    'pypi.org:443/path',
    'pypi.org:443#',
    'pypi.org%2eevil.example:443',
    'pypi.org\u0000.evil.example:443',
    'pypi.org\\.evil.example:443',
    'pypi..org:443',
    '.pypi.org:443',
    'pypi.org..:443',
    '-pypi.org:443',
    'pypi_.org:443',
    `${'a'.repeat(64)}.org:443`,
    `${'abcdefg.'.repeat(40)}org:443`,
    '',
    ':443',
  ])('%s is refused', (authority) => {
    expect(parseAuthority(authority, null)).toEqual({ refusal: expect.any(String) });
  });
});

describe('the target of a plain request', () => {
  it.each([
    ['http://deb.debian.org/debian?x=%20', 'deb.debian.org', 80, '/debian?x=%20'],
    ['HTTP://Deb.Debian.org:80', 'deb.debian.org', 80, '/'],
    ['http://deb.debian.org?x', 'deb.debian.org', 80, '/?x'],
  ])('%s is read', (url, host, port, path) => {
    expect(parseAbsoluteUrl(url)).toEqual({ host, port, path });
  });

  it.each([
    '/etc/passwd',
    'https://pypi.org/',
    'ftp://pypi.org/',
    'file:///etc/hostname',
    'http:/pypi.org/',
    'http:///pypi.org/',
    'http://pypi.org@127.0.0.1/',
    'http://127.0.0.1\\@pypi.org/',
    'http://pypi.org\\@127.0.0.1/',
    'http://pypi.org/ HTTP/1.1',
    'http://pypi.org/\r\nHost: evil.example',
    'http://pypi.org/#fragment',
    'http://2130706433/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://pypi.org:25/',
    'http://pypi.org/é',
  ])('%s is refused', (url) => {
    expect(parseAbsoluteUrl(url)).toEqual({ refusal: expect.any(String) });
  });
});

describe('the list of allowed hosts', () => {
  const policy = { packageRegistries: false, hosts: ['api.example.com', '*.example.org'] };
  it.each([
    ['api.example.com', true],
    ['x.api.example.com', false],
    ['example.com', false],
    ['a.example.org', true],
    ['a.b.example.org', true],
    ['example.org', false],
    ['evilexample.org', false],
    ['example.org.evil.net', false],
    ['pypi.org', false],
  ])('%s: %s', (host, isAllowed) => {
    expect(isHostAllowed(policy, host)).toBe(isAllowed);
  });

  it('holds the package registries where they are on', () => {
    expect(isHostAllowed({ packageRegistries: true, hosts: [] }, 'files.pythonhosted.org')).toBe(true);
  });
});

describe('the fields that go on', () => {
  it('are those of the message, not of the connection', () => {
    const raw =
      'Accept|*/*|Connection|X-Mine, Content-Length|X-Mine|1|Keep-Alive|timeout=5|Proxy-Authorization|Basic eA==|Proxy-Connection|keep-alive|TE|trailers|Trailer|X|Transfer-Encoding|chunked|Upgrade|h2c|HTTP2-Settings|x|Expect|100-continue|Content-Length|5|Cookie|a|Cookie|b';
    expect(forwardedHeaders(raw.split('|'))).toEqual(
      'Accept|*/*|Content-Length|5|Cookie|a|Cookie|b|Via|1.1 vitto'.split('|'),
    );
  });

  it('name the host that was checked', () => {
    const raw = ['Host', 'evil.example', 'host', 'two.example', 'Accept', '*/*'];
    expect(requestHeaders(raw, 'pypi.org', 80).slice(0, 4)).toEqual(['Host', 'pypi.org', 'Accept', '*/*']);
  });
});
