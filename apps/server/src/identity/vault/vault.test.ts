import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Vault } from './vault.ts';

const vault = new Vault(randomBytes(32));
const codeOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
};

describe('the vault', () => {
  it.each(['x', '', 'clé 🔑', 'a'.repeat(65_536)])('opens what it sealed', (text) => {
    expect(vault.open(vault.seal(text, 'secret:u:N'), 'secret:u:N')).toBe(text);
  });

  it('seals the same value differently each time, and shows nothing of it', () => {
    const [one, two] = [vault.seal('password', 'a'), vault.seal('password', 'a')];
    expect(one.sealed.equals(two.sealed)).toBe(false);
    expect(one.sealed.includes('password')).toBe(false);
  });

  it('does not open a value that was moved to another place', () => {
    expect(codeOf(() => vault.open(vault.seal('x', 'secret:ana:N'), 'secret:ben:N'))).toBe('vault.damaged');
  });

  it('does not open a value of which any one byte was changed, or that was cut', () => {
    const { keyId, sealed } = vault.seal('value', 'a');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(codeOf(() => vault.open({ keyId, sealed: changed }, 'a'))).toBe('vault.damaged');
      expect(codeOf(() => vault.open({ keyId, sealed: sealed.subarray(0, at) }, 'a'))).toBe('vault.damaged');
    }
  });

  it('says that it has another key, and never gives garbage', () => {
    const other = new Vault(randomBytes(32));
    const sealed = vault.seal('value', 'a');
    expect(codeOf(() => other.open(sealed, 'a'))).toBe('vault.wrong-key');
    expect(codeOf(() => other.open({ ...sealed, keyId: other.keyId }, 'a'))).toBe('vault.damaged');
  });
});
