import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readScript } from '../engine/models/scripted/read-script.ts';
import { DEMO_PACKAGE } from './demo-package.ts';
import { DEMO_SCRIPT } from './prepare-demo.ts';
import { removePauses } from './remove-pauses.ts';

const text = readFileSync(DEMO_SCRIPT, 'utf8');

describe('the script of the demo', () => {
  it('is a script, with pauses and without', () => {
    const paced = readScript(text, 'demo.yaml');
    const bare = readScript(removePauses(text), 'bare.yaml');
    expect(JSON.stringify(paced)).toMatch(/"delayMs":\d/);
    expect(JSON.stringify(bare)).not.toMatch(/delayMs|everyMs/);
    expect(bare.conversations).toHaveLength(paced.conversations?.length ?? 0);
  });

  it('mends the very defect that is planted', () => {
    expect(text).toContain(`oldText: ${DEMO_PACKAGE.defect.wrong}\n`);
    expect(text).toContain(`newText: ${DEMO_PACKAGE.defect.right}\n`);
  });

  it('has another branch wherever the outcome of a command decides', () => {
    const [demo] = readScript(text, 'demo.yaml').conversations ?? [];
    const forks = demo?.turns.flatMap((turn) => ('when' in turn ? [turn.when] : [])) ?? [];
    expect(forks.length).toBeGreaterThan(7);
    for (const branches of forks) expect(branches.at(-1)?.if).toBeUndefined();
  });
});
