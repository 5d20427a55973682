import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/app-error.ts';
import { checkSkillFiles } from './check-skill-files.ts';
import { readSkill } from './read-skill.ts';

const skill = (front: string, body = 'Do it.') => `---\n${front}\n---\n${body}`;
const MINIMAL = 'name: pdf-tools\ndescription: Fills PDF forms.';

/** The errors that a text or a folder is refused for, a line each. */
function faultsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'skill.invalid') throw error;
    return (error.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

describe('a SKILL.md', () => {
  it('is read with all that the format knows', () => {
    const front = [
      'name: pdf-tools',
      'description: >',
      '  Fills PDF forms.',
      '  Use it for forms.',
      'license: Apache-2.0',
      'compatibility: Needs poppler',
      'metadata:',
      '  version: 1.0',
      '  author: ana',
      'allowed-tools: run_command read_file',
      'unknown: kept',
    ].join('\n');
    expect(readSkill(skill(front, '# How\n---\nmore'))).toEqual({
      name: 'pdf-tools',
      description: 'Fills PDF forms. Use it for forms.',
      license: 'Apache-2.0',
      compatibility: 'Needs poppler',
      allowedTools: ['run_command', 'read_file'],
      body: '# How\n---\nmore',
    });
  });

  it('may be minimal, of Windows, with a mark at its beginning, without a body', () => {
    for (const text of [
      skill(MINIMAL),
      `\uFEFF${skill(MINIMAL)}`,
      skill(MINIMAL).replaceAll('\n', '\r\n'),
      `---\n${MINIMAL}\n---`,
      skill(`${MINIMAL}\nlicense:\nallowed-tools: [a, b]`),
    ]) {
      expect(readSkill(text)).toMatchObject({
        name: 'pdf-tools',
        description: 'Fills PDF forms.',
        license: null,
      });
    }
  });

  it('takes every value as text', () => {
    expect(readSkill(skill('name: 2024\ndescription: true'))).toMatchObject({
      name: '2024',
      description: 'true',
    });
  });

  it.each([
    ['no front matter', 'Just text', /^SKILL\.md:1: begins with no front matter/],
    ['an open front matter', `---\n${MINIMAL}\n`, /^SKILL\.md:1: begins/],
    ['no name', skill('description: x'), /^name: a name is missing/],
    ['no description', skill('name: x'), /^description: a description is missing/],
    ['an empty description', skill('name: x\ndescription: "  "'), /^description \(SKILL\.md:3\): not empty/],
    [
      'a long description',
      skill(`name: x\ndescription: ${'d'.repeat(1_025)}`),
      /^description \(SKILL\.md:3\): at most 1024/,
    ],
    ['a name with capitals', skill('name: Pdf\ndescription: x'), /^name \(SKILL\.md:2\): small letters/],
    ['a name with a path', skill('name: ../x\ndescription: x'), /^name \(SKILL\.md:2\): small letters/],
    ['a long name', skill(`name: ${'n'.repeat(65)}\ndescription: x`), /^name \(SKILL\.md:2\)/],
    ['a colon in a plain text', skill('name: x\ndescription: Use when: always'), /^SKILL\.md:3: .*quotes/],
    ['a key twice', skill('name: x\nname: y\ndescription: x'), /^SKILL\.md:3: .*unique/],
    ['a list', skill('- name\n- description'), /^name: a name is missing/],
    ['metadata that are a text', skill(`${MINIMAL}\nmetadata: x`), /^metadata \(SKILL\.md:4\)/],
    ['aliases', skill('name: &n x\ndescription: *n'), /aliases/],
    ['a huge front matter', skill(`${MINIMAL}\nmetadata:\n  x: ${'x'.repeat(20_000)}`), /longer than/],
    ['tabs', skill('name: x\n\tdescription: y'), /^SKILL\.md:/],
  ])('with %s is refused with the place', (_, text, fault) => {
    expect(faultsOf(() => readSkill(text))[0]).toMatch(fault);
  });

  it('of a billion laughs is refused at once', () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(', ')}]`,
    );
    expect(faultsOf(() => readSkill(skill(`${MINIMAL}\nl0: &l0 ha\n${levels.join('\n')}`)))[0]).toMatch(
      /aliases/,
    );
  });

  it('reaches no prototype', () => {
    expect(readSkill(skill(`${MINIMAL}\n__proto__:\n  license: evil`)).license).toBeNull();
    expect(({} as { license?: string }).license).toBeUndefined();
  });
});

describe('the files of a skill', () => {
  const file = (path: string, content = 'x') => ({ path, content: Buffer.from(content).toString('base64') });

  it('are kept in the order of their paths', () => {
    expect(checkSkillFiles([file('scripts/b.py'), file('a.md', 'año')])).toEqual([
      { path: 'a.md', content: Buffer.from('año') },
      { path: 'scripts/b.py', content: Buffer.from('x') },
    ]);
  });

  it.each([
    '/etc/passwd',
    '../x',
    'a/../../x',
    'a/./b',
    'a//b',
    'a/',
    '.',
    '..',
    'C:/x',
    'c:x',
    'a\\b',
    '..\\x',
    'a\nb',
    'a\u0000b',
    'SKILL.md',
    'skill.md',
    `${'a'.repeat(256)}`,
  ])('never lie at %j', (path) => {
    expect(faultsOf(() => checkSkillFiles([file(path)]))[0]).toMatch(/^files\.0\.path: /);
  });

  it('are there once, are no folders, and are not too large', () => {
    expect(faultsOf(() => checkSkillFiles([file('a'), file('a')]))).toEqual([
      'files.1.path: "a" is there twice',
    ]);
    expect(faultsOf(() => checkSkillFiles([file('a'), file('a/b')]))[0]).toContain('a file and a folder');
    expect(faultsOf(() => checkSkillFiles([file('a', 'x'.repeat(512 * 1024 + 1))]))[0]).toContain(
      'larger than',
    );
    const many = Array.from({ length: 9 }, (_, index) => file(`f${index}`, 'x'.repeat(500 * 1024)));
    expect(faultsOf(() => checkSkillFiles(many))[0]).toContain('in all');
  });
});
