import { describe, expect, test } from 'vitest';
import { maskSecrets, registerSecrets } from './mask-secrets.ts';

const A = (length: number) => 'aB3dE5gH7j'.repeat(Math.ceil(length / 10)).slice(0, length);
const U = (length: number) => A(length).toUpperCase();

/** Tokens are put together here, so that no scanner takes this file for a leak. */
const TOKENS: [name: string, token: string][] = [
  ['anthropic key', `sk-ant-api03-${A(40)}`],
  ['openrouter key', `sk-or-v1-${A(40)}`],
  ['openai key', `sk-${A(48)}`],
  ['openai key', `sk-proj-${A(48)}`],
  ['google key', `AIza${A(35)}`],
  ['google token', `ya29.${A(60)}`],
  ['github token', `ghp_${A(36)}`],
  ['github token', `github_pat_${A(60)}`],
  ['gitlab token', `glpat-${A(20)}`],
  ['slack token', `xoxb-${A(24)}`],
  ['npm token', `npm_${A(36)}`],
  ['aws key id', `AKIA${U(16)}`],
  ['stripe key', `sk_live_${A(24)}`],
  ['vitto token', `vitto_${A(43)}`],
  ['json web token', `eyJ${A(20)}.eyJ${A(40)}.${A(43)}`],
];

describe('the shapes of tokens', () => {
  test.each(TOKENS)('a %s is masked wherever it stands in a text', (name, token) => {
    for (const [before, after] of [
      ['', ''],
      ['key=', ' and more'],
      ['"', '"'],
      ['\n', '\n'],
      ['\t', '\t'],
      ['x\\n', '\\n'],
      ['x\\t', '"'],
    ] as const) {
      expect(maskSecrets(`${before}${token}${after}`)).toBe(`${before}[${name} masked]${after}`);
    }
  });

  test('a private key is masked, on lines of its own and with escaped line breaks', () => {
    const body = [A(64), A(64), A(20)];
    for (const kind of ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ']) {
      for (const line of ['\n', '\r\n', '\\n']) {
        const key = [`-----BEGIN ${kind}PRIVATE KEY-----`, ...body, `-----END ${kind}PRIVATE KEY-----`];
        expect(maskSecrets(`a ${key.join(line)} b`)).toBe('a [private key masked] b');
      }
    }
    const old = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n${A(64)}\n-----END RSA PRIVATE KEY-----`;
    expect(maskSecrets(`${old} and ${old}`)).toBe('[private key masked] and [private key masked]');
  });

  test('a private key that is cut off is masked as far as it goes', () => {
    const cut = `-----BEGIN PRIVATE KEY-----\n${A(64)}\n${A(64)}\n[cut off here]`;
    expect(maskSecrets(cut)).toBe('[private key masked]\n[cut off here]');
  });

  test('the mere mention of a private key leaves the text whole', () => {
    const code =
      "if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('no keys in here, please');";
    expect(maskSecrets(code)).toBe(code);
  });

  test('what an authorization header carries is masked', () => {
    for (const before of [
      'Authorization: Bearer ',
      'authorization=basic ',
      '"Authorization": "token ',
      'AUTHORIZATION:\n\tBearer\t',
    ])
      expect(maskSecrets(`${before}${A(30)}`)).toBe(`${before}[authorization header masked]`);
  });

  test('a password in a URL is masked, also without a user name', () => {
    expect(maskSecrets('postgres://ana:s3cr$t-pw@db:5432/x')).toBe(
      'postgres://ana:[password in url masked]@db:5432/x',
    );
    expect(maskSecrets('redis://:hunter22@cache')).toBe('redis://:[password in url masked]@cache');
  });
});

test.each([
  `\${API_TOKEN}`,
  `Authorization: Bearer \${API_TOKEN}`,
  `postgres://ana:\${DB_PASSWORD}@db/x`,
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  'sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'https://example.org:8080/a@b',
  'task-list sk-short',
  '018f6d1e-7c3a-7b11-9f5e-2f1d8c0a4b6e',
])('%s is left alone', (text) => {
  expect(maskSecrets(text)).toBe(text);
});

describe('registered values', () => {
  const value = 'p@ss/wörd "?>~ tail';
  registerSecrets([value, 'short']);
  const forms: [string, string][] = [
    ['as it is', value],
    ['in a URL', encodeURIComponent(value)],
    ['in JSON', JSON.stringify(value)],
  ];
  test.each(forms)('a value is masked %s', (_, form) => {
    const masked = maskSecrets(`x ${form} y`);
    expect(masked).toContain('[secret masked]');
    expect(masked).not.toContain('tail');
  });

  test.each([0, 1, 2, 3, 4, 5])('a value is masked in base64 after %d other bytes', (offset) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${'u'.repeat(offset)}${value}:and more`).toString(encoding);
      const masked = maskSecrets(encoded);
      expect(masked).toContain('[secret masked]');
      const left = Buffer.from(masked.replace('[secret masked]', ''), encoding).toString();
      expect(left).not.toContain('rd "?');
    }
  });

  test('what is too short to be a secret is not masked', () => {
    expect(maskSecrets('a short text')).toBe('a short text');
  });
});

const MEGABYTE = 1_000_000;
const fill = (part: string) => part.repeat(Math.ceil(MEGABYTE / part.length));
// A quadratic pattern takes minutes on these; the bound leaves a slow machine much room.
test.each([
  ...[
    '-----BEGIN PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    '-----BEGIN A',
    '-',
    'A',
    ' ',
    '\n',
  ],
  ...[
    'eyJ-',
    'eyJaaaaaaaaaa.',
    'eyJaaaaaaaaaa.eyJ',
    'eyJ',
    'sk-',
    'sk-ant-',
    'vitto_',
    'a.',
    'a://',
    'a://b:',
    'a://:b',
  ],
  ...[
    'authorization',
    'authorization: ',
    'bearer ',
    'authorization: bearer ',
    'authorization:"',
    '\\n',
    '\\',
    '"',
    "'",
  ],
  ...['://', ':', 'a://u:aaa', 'ghp_', 'github_pat_', 'xoxb-', 'token  ', 'AKIA', 'ya29.'],
])('a megabyte of %j takes no more than a moment', (part) => {
  for (const text of [fill(part), `-----BEGIN PRIVATE KEY-----${fill(part)}`, `eyJ${fill(part)}`]) {
    const started = performance.now();
    maskSecrets(text);
    expect(performance.now() - started).toBeLessThan(3_000);
  }
});
