/**
 * A token begins at a word's edge, or right after an escape such as \n in JSON or source text, whose letter would
 * hide the edge.
 */
const START = String.raw`(?:\b|(?<=\\[nrtbf]))`;
const token = (shape: string) => new RegExp(START + shape, 'g');

/**
 * The shapes of well-known secrets, masked by the server before anything is journaled and by the web app once more
 * before anything is handed on. Every shape takes time linear in the text, whoever made the text: what repeats without a bound ends its pattern, or
 * can begin at a bounded number of places in the run that it scans.
 */
export const SECRET_SHAPES: readonly { name: string; pattern: RegExp }[] = [
  { name: 'anthropic key', pattern: token('sk-ant-[A-Za-z0-9_-]{20,}') },
  { name: 'openrouter key', pattern: token('sk-or-[A-Za-z0-9_-]{20,}') },
  { name: 'openai key', pattern: token('sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}') },
  { name: 'google key', pattern: token('AIza[A-Za-z0-9_-]{35}') },
  { name: 'google token', pattern: token(String.raw`ya29\.[A-Za-z0-9_-]{20,}`) },
  { name: 'github token', pattern: token('(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})') },
  { name: 'gitlab token', pattern: token('glpat-[A-Za-z0-9_-]{20,}') },
  { name: 'slack token', pattern: token('xox[abeoprs]-[A-Za-z0-9-]{10,}') },
  { name: 'npm token', pattern: token('npm_[A-Za-z0-9]{36}') },
  { name: 'aws key id', pattern: token(String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}\b`) },
  { name: 'stripe key', pattern: token('[rs]k_(?:live|test)_[A-Za-z0-9]{20,}') },
  { name: 'vitto token', pattern: token('vitto_[A-Za-z0-9_-]{32,}') },
  {
    name: 'json web token',
    // Only near the beginning of a run: eyJ-eyJ-eyJ-… would otherwise be scanned to its end from each of its parts.
    pattern: /(?<=(?<![\w-])(?:[\w-]{0,40}-)?|\\[nrtbf])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  },
  {
    name: 'private key',
    // Nothing between has five dashes, so that many beginnings without an end are each read once. A key that was cut
    // off before its end is masked as far as it goes.
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:(?!-----)[^])*?-----END [A-Z ]{0,40}PRIVATE KEY-----|(?:(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{16,})+)/g,
  },
  {
    name: 'authorization header',
    pattern:
      /(?<=\bauthorization[\\"']{0,4}\s{0,8}[:=]\s{0,8}[\\"']{0,4}(?:bearer|basic|token)\s{1,8})[A-Za-z0-9._~+/=-]{12,}/gi,
  },
  {
    name: 'password in url',
    // The user's name may be empty; what begins with $ is a placeholder.
    pattern: /(?<=\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]{0,64}:)(?!\$)[^\s:/@]{3,}(?=@)/gi,
  },
];
