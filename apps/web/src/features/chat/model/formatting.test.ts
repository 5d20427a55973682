import { describe, expect, it } from 'vitest';
import { en } from '../../../i18n/strings.en.ts';
import { es } from '../../../i18n/strings.es.ts';
import { describeObject, listArguments, nameTool } from './describe-tool.ts';
import { formatBytes, formatCost, formatCount, formatDuration, formatTimer } from './format.ts';
import { revealHidden } from './reveal-hidden.ts';

describe('numbers and times', () => {
  it('never show an unknown cost as 0', () => {
    expect(formatCost(null, 'cost unknown', 'en')).toBe('cost unknown');
    expect([0, 0.00042, 0.5, 12].map((cost) => formatCost(cost, '?', 'en'))).toEqual([
      '$0',
      '$0.0004',
      '$0.50',
      '$12.00',
    ]);
  });
  it('read at a glance', () => {
    expect([340, 4240, 59_900, 185_000, 7_620_000].map(formatDuration)).toEqual([
      '340 ms',
      '4.2 s',
      '59 s',
      '3 min 05 s',
      '2 h 07 min',
    ]);
    expect([-50, 7000, 750_000, 3_723_000].map(formatTimer)).toEqual(['0:00', '0:07', '12:30', '1:02:03']);
    expect([0, 999, 1290, 12_340, 999_999, 1_250_000].map((count) => formatCount(count, 'en'))).toEqual([
      '0',
      '999',
      '1.2k',
      '12.3k',
      '999k',
      '1.2M',
    ]);
    expect([12, 2048, 5_242_880].map(formatBytes)).toEqual(['12 B', '2.0 KB', '5.0 MB']);
  });
});

describe('numbers in Spanish', () => {
  // The space before a unit does not break, which a reader does not see.
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');
  it('have a comma, and the unit after them', () => {
    expect([999, 1290, 13_640, 1_250_000].map((count) => plain(formatCount(count, 'es')))).toEqual([
      '999',
      '1,2 mil',
      '13,6 mil',
      '1,2 M',
    ]);
    expect([0, 0.00042, 0.05, 12].map((cost) => plain(formatCost(cost, '?', 'es')))).toEqual([
      '0 $',
      '0,0004 $',
      '0,05 $',
      '12,00 $',
    ]);
    expect(formatCost(null, 'coste desconocido', 'es')).toBe('coste desconocido');
  });
});

describe('hidden characters', () => {
  const show = (text: string) =>
    revealHidden(text)
      .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
      .join('');
  it('are written out: reading direction, zero width, tags, controls, odd spaces, lone surrogates', () => {
    expect(show('rm \u202etxt.exe')).toBe('rm [U+202E]txt.exe');
    expect(show('a\u200bb\u00a0c\ufeff')).toBe('a[U+200B]b[U+00A0]c[U+FEFF]');
    expect(show('x\u{e0041}y\u001b[0m\r')).toBe('x[U+E0041]y[U+001B][0m[U+000D]');
    expect(show('half \ud83e')).toBe('half [U+D83E]');
  });
  it('are left alone where they make an emoji, and marked where they only pretend to', () => {
    expect(show('👨‍👩‍👧 ❤️ مرحبا')).toBe('👨‍👩‍👧 ❤️ مرحبا');
    expect(show('a\u200db\ufe0f')).toBe('a[U+200D]b[U+FE0F]');
  });
  it('change nothing in plain text, tabs and lines', () => {
    expect(revealHidden('ls -la\n\tcd ~')).toEqual([{ kind: 'text', text: 'ls -la\n\tcd ~' }]);
  });
});

describe('what a call is about', () => {
  it('names a tool by its verb, one of a server by both names, and hides nothing of a name', () => {
    expect(nameTool('run_command', en.tool.verbs)).toBe('Run');
    expect(nameTool('mcp__files__read_text__file', en.tool.verbs)).toBe('files: read_text__file');
    expect(nameTool('mcp__\u202e__x', en.tool.verbs)).toBe('[U+202E]: x');
    expect(nameTool('other', en.tool.verbs)).toBe('other');
  });

  it('is its command, path or address, in one well-formed line', () => {
    expect(describeObject({ cwd: '/x', command: 'ls\n -l' })).toBe('ls -l');
    expect(describeObject({ path: 'a\u202etxt.exe' })).toBe('a[U+202E]txt.exe');
    expect(describeObject({ count: 3 })).toBe('');
    expect(describeObject(null)).toBe('');
    const family = '👨‍👩‍👧';
    for (let at = 230; at < 245; at += 1) {
      const line = describeObject({ command: 'a'.repeat(at) + family.repeat(4) });
      expect(line.isWellFormed()).toBe(true);
      expect(line.replaceAll(family, '').replace('…', '')).toBe('a'.repeat(Math.min(at, 240)));
    }
  });
  it('lists its arguments whole, whatever they are', () => {
    expect(listArguments({ a: 'x', b: { c: 1 } })).toEqual([
      { name: 'a', value: 'x' },
      { name: 'b', value: '{\n  "c": 1\n}' },
    ]);
    expect(listArguments('plain')).toEqual([{ name: '', value: 'plain' }]);
    expect(listArguments(null)).toEqual([]);
  });
});

describe('the catalogues', () => {
  const keys = (value: unknown, path = ''): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => keys(inner, `${path}.${key}`))
      : [path];
  it('have the same keys in English and Spanish, and no empty words', () => {
    expect(keys(es)).toEqual(keys(en));
    const words = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(words) : [value];
    expect([...words(en), ...words(es)].filter((word) => word === '')).toEqual([]);
  });
});
