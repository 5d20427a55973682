import { describe, expect, it } from 'vitest';
import { chooseKind } from './choose-kind.ts';
import { countChanges, looksLikeDiff, markDiff } from './read-diff.ts';
import { readSeparated, toTable } from './read-table.ts';
import { LineSplitter } from './split-lines.ts';

function split(...parts: string[]) {
  const splitter = new LineSplitter();
  for (const part of parts) splitter.add(part);
  splitter.end();
  return splitter.lines;
}

describe('lines of a text', () => {
  it('are the same wherever it was cut', () => {
    const whole = `one\r\ntwo 🦊\n\n${'x'.repeat(4_500)}\nlast`;
    const expected = split(whole);
    expect(expected.map((line) => line.number)).toEqual([1, 2, 3, 4, null, null, 5]);
    expect(expected[0]?.text).toBe('one');
    for (let at = 0; at < 30; at += 1) expect(split(whole.slice(0, at), whole.slice(at))).toEqual(expected);
    for (let at = 1_000; at < whole.length; at += 700)
      expect(split(whole.slice(0, at), whole.slice(at))).toEqual(expected);
  });

  it('are cut into pieces where they are too long, never within an emoji, and not read again with each part', () => {
    const parts = Array.from({ length: 40 }, () => 'a🦊'.repeat(10_000));
    const lines = split(...parts);
    expect(lines.every((line) => line.text.isWellFormed() && line.text.length <= 2_000)).toBe(true);
    expect(lines.map((line) => line.text).join('')).toBe(parts.join(''));
    expect(lines.map((line) => line.goesOn)).toEqual(lines.map((_, at) => at < lines.length - 1));
    expect(lines.filter((line) => line.number !== null)).toHaveLength(1);
  });

  it('end without an empty one', () => {
    expect(split('a\nb\n').map((line) => line.text)).toEqual(['a', 'b']);
    expect(split('')).toEqual([]);
  });
});

describe('a diff', () => {
  const DIFF =
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n same\n--- an SQL comment\n++i\n\\ No newline at end of file';

  it('tells headings from lines that look like them', () => {
    const marks = markDiff(split(DIFF));
    expect(marks).toEqual(['file', 'file', 'file', 'hunk', 'same', 'removed', 'added', 'same']);
    expect(countChanges(marks)).toEqual({ added: 1, removed: 1 });
  });

  it('is known by its own words', () => {
    expect(looksLikeDiff(split(DIFF))).toBe(true);
    expect(looksLikeDiff(split('--- a\n+++ b\nno hunk'))).toBe(false);
    expect(looksLikeDiff(split('- a list\n- of things'))).toBe(false);
  });
});

describe('a table', () => {
  it('is read with its quotes and line breaks', () => {
    expect(readSeparated('a,b\r\n"1, or ""one""","two\nlines"\n\n3,\n', ',')).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1, or "one"', 'two\nlines'],
        ['3', ''],
      ],
    });
    expect(readSeparated('a\tb\n1\t2', '\t')?.rows).toEqual([['1', '2']]);
    expect(readSeparated('', ',')).toBeNull();
  });

  it('is made of an array of objects, with every column that one of them has', () => {
    expect(toTable([{ a: 1 }, { b: { c: null } }])).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1', ''],
        ['', '{"c":null}'],
      ],
    });
    for (const other of [[], [1], [{ a: 1 }, 2], { a: 1 }, [[1]], null]) expect(toTable(other)).toBeNull();
  });
});

describe('how a file is shown', () => {
  const kind = (name: string, mediaType: string, bytes = 10) => chooseKind({ name, mediaType, bytes });

  it('follows its type first, then its name', () => {
    expect(kind('x', 'image/png')).toBe('image');
    expect(kind('x.bin', 'text/x-diff')).toBe('diff');
    expect(kind('x.patch', 'text/plain')).toBe('diff');
    expect(kind('x.csv', 'text/plain; charset=utf-8')).toBe('table');
    expect(kind('x.json', 'application/octet-stream')).toBe('json');
    expect(kind('README.md', 'text/plain')).toBe('markdown');
    expect(kind('Makefile', 'text/x-makefile')).toBe('text');
    expect(kind('page.html', 'text/html')).toBe('text');
  });

  it('never makes a text of what is none, or a document of what is too large', () => {
    expect(kind('x.json', 'application/pdf')).toBe('none');
    expect(kind('x.txt', 'application/zip')).toBe('none');
    expect(kind('x', 'application/octet-stream')).toBe('none');
    expect(kind('x.json', 'application/json', 5_000_000)).toBe('text');
  });
});
