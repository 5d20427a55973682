import { expect, test } from 'vitest';
import { showArguments, toVisibleText } from './visible-text.ts';

test('what is invisible or moves text about is shown by its code', () => {
  expect(toVisibleText('a\u202eb\u200bc\x1b[8md\u00a0e\u{e0041}f\0\rg')).toBe(
    'a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[8md⟨U+00A0⟩e⟨U+E0041⟩f⟨U+0000⟩⟨U+000D⟩g',
  );
  expect(toVisibleText('\ud800')).toBe('⟨U+D800⟩');
});

test('ordinary text of any language stays as it is', () => {
  const text = 'ls -la\n\té ñ 日本語 🦊 עברית';
  expect(toVisibleText(text)).toBe(text);
});

test('a value cannot pose as another field', () => {
  expect(showArguments({ command: 'ls\npath: /tmp', path: '/etc' })).toEqual([
    'command:',
    '│ ls',
    '│ path: /tmp',
    'path: /etc',
  ]);
});

test('nothing is shortened, and a name may not break the line', () => {
  const long = 'x'.repeat(5000);
  expect(showArguments({ 'a\nb': long })).toEqual([`a⟨U+000A⟩b: ${long}`]);
  expect(showArguments({})).toEqual(['(no arguments)']);
  expect(showArguments([1])).toEqual(['[', '  1', ']']);
});
