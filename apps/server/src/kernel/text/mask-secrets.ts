/**
 * Masks secrets in text: well-known token shapes and the values that this installation knows (its own provider
 * keys, the database password, the vault's). Runs before anything is journaled, logged or sent to a model.
 * Placeholders such as ${API_TOKEN} and plain hashes are left alone.
 */
export function maskSecrets(text: string): string {
  if (text.length < 8) return text;
  let masked = text;
  for (const value of knownValues)
    if (masked.includes(value)) masked = masked.replaceAll(value, '[secret masked]');
  for (const { name, pattern } of SHAPES) masked = masked.replace(pattern, `[${name} masked]`);
  return masked;
}

/** Longest first, so that a value that contains another is masked whole. */
let knownValues: string[] = [];

/** Adds values that must never be shown, with the forms in which they are likely to turn up (base64, URL-encoded, basic auth). */
export function registerSecrets(values: Iterable<string>): void {
  const all = new Set(knownValues);
  for (const value of values) {
    if (value.length < 8) continue;
    all.add(value);
    all.add(encodeURIComponent(value));
    all.add(JSON.stringify(value).slice(1, -1));
    // The middle of the base64 of a text is the same wherever it starts; each of the three alignments is masked.
    for (const offset of [0, 1, 2]) {
      const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
        .toString('base64')
        .replaceAll('=', '');
      const inner = encoded.slice(offset === 0 ? 0 : 4, -2);
      if (inner.length >= 10) all.add(inner);
    }
  }
  knownValues = [...all].sort((a, b) => b.length - a.length);
}

/** How many characters at the end of a chunk may be the beginning of a secret; streams hold that much back. */
export function longestSecret(): number {
  return Math.max(200, knownValues[0]?.length ?? 0);
}

const SHAPES: { name: string; pattern: RegExp }[] = [
  { name: 'anthropic key', pattern: /\bsk-ant-[A-Za-z0-9_-]{20,}/g },
  { name: 'openrouter key', pattern: /\bsk-or-[A-Za-z0-9_-]{20,}/g },
  { name: 'openai key', pattern: /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}/g },
  { name: 'google key', pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { name: 'google token', pattern: /\bya29\.[A-Za-z0-9_-]{20,}/g },
  { name: 'github token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})/g },
  { name: 'gitlab token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}/g },
  { name: 'slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  { name: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}/g },
  { name: 'aws key id', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { name: 'stripe key', pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}/g },
  { name: 'vitto token', pattern: /\bvitto_[A-Za-z0-9_-]{32,}/g },
  { name: 'json web token', pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g },
  {
    name: 'private key',
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  },
  {
    name: 'authorization header',
    pattern: /(?<=\bauthorization[\\"']*\s*[:=]\s*[\\"']*(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{12,}/gi,
  },
  { name: 'password in url', pattern: /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]{1,64}:)[^\s:/@$]{3,}(?=@)/gi },
];
