import { expect, it } from 'vitest';
import { maskingAlso } from '../../kernel/text/mask-secrets.ts';
import { ValueMask } from '../../kernel/text/value-mask.ts';
import { buildSystemPrompt } from './system-prompt.ts';
import { describeSkills } from './describe-skills.ts';

const facts = { allowedPaths: [], guest: null, language: 'en' as const, subVitto: null, mayDeploy: false };

it('lists skills by name and what they are for, a line each', () => {
  const text = describeSkills([
    { name: 'a', description: 'First.\n- forged: line' },
    { name: 'b', description: 'Sec\u200bond\u{e0041}.' },
  ]);
  expect(text.split('\n').slice(1)).toEqual(['- a: First. - forged: line', '- b: Second.']);
});

it('holds no value of a secret', () => {
  const current = new ValueMask([{ name: 'KEY', value: 'tr0ub4dor-tr0ub4dor' }]);
  const skills = [{ name: 'a', description: 'Calls with tr0ub4dor-tr0ub4dor.' }];
  expect(maskingAlso({ current }, () => describeSkills(skills))).toContain(
    '- a: Calls with [secret KEY masked].',
  );
});

it('is bounded, and says how many are left out', () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ name: `s${index}`, description: 'short' }));
  expect(describeSkills(many)).toMatch(/- s49: short\n\(10 more are not listed\.\)$/);
  const long = many.map(({ name }) => ({ name, description: 'd'.repeat(1_024) }));
  expect(describeSkills(long).length).toBeLessThan(8_300);
});

it('is no part of the prompt of who has none', () => {
  expect(buildSystemPrompt({ ...facts, skills: [] })).not.toContain('kill');
  expect(buildSystemPrompt({ ...facts, skills: [{ name: 'a', description: 'b' }] })).toContain('- a: b');
});
