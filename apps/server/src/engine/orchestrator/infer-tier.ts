import type { Tier } from '@vitto/contracts';
import { TIER_WORDS } from './tier-words.ts';

/** Whole words of a list: no letter, mark or digit touches them, so that "latest contest" holds no test. */
function toPattern(words: readonly string[]): RegExp {
  const any = words.map((word) => word.normalize('NFC').replaceAll(' ', String.raw`\s+`)).join('|');
  return new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}_])(?:${any})(?![\p{L}\p{M}\p{N}_])`, 'iu');
}

const PATTERNS = {
  browser: Object.values(TIER_WORDS.browser).map(toPattern),
  vm: Object.values(TIER_WORDS.vm).map(toPattern),
};

/**
 * Where the work of a sub-Vitto runs, when nobody said: by the tools that were named for it, else by what its
 * description needs. A hint: who deploys it may name the tier.
 */
export function inferTier(description: string, toolTiers: readonly Tier[]): Tier {
  if (toolTiers.length > 0) {
    if (toolTiers.includes('browser')) return 'browser';
    return toolTiers.includes('vm') ? 'vm' : 'in-process';
  }
  const text = description.normalize('NFC');
  // What only a browser can do is said more narrowly than what a machine can.
  if (PATTERNS.browser.some((pattern) => pattern.test(text))) return 'browser';
  return PATTERNS.vm.some((pattern) => pattern.test(text)) ? 'vm' : 'in-process';
}
