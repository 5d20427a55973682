import { expect, it } from 'vitest';
import { bodyOf, readName } from './front-matter.ts';

it('reads the name of a skill, in quotes or not', () => {
  expect(readName('---\nname: review-code\ndescription: x\n---\nbody')).toBe('review-code');
  expect(readName('---\r\ndescription: x\r\nname: "review-code"\r\n---\r\n')).toBe('review-code');
  expect(readName("---\nname: 'a' # b\n---")).toBe('a');
  expect(readName('---\nname: a # the name\n---\n')).toBe('a');
});

it('gives a name for what has none: the server says what is wrong', () => {
  for (const text of ['', 'name: a', '---\ndescription: x\n---\nname: b', '---\nname:\n---\n'])
    expect(readName(text), text).toBe('unnamed');
});

it('leaves the front matter out of what is read', () => {
  expect(bodyOf('---\nname: a\n---\n# Title\n---\nmore')).toBe('# Title\n---\nmore');
  expect(bodyOf('# Title')).toBe('# Title');
});
