import { expect, test } from 'vitest';
import {
  fitColumns,
  formatAge,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatTable,
} from './format.ts';
import { toJsonLine } from './json-line.ts';

test('durations read as people say them', () => {
  expect([400, 9_940, 9_960, 59_400, 59_600, 185_000, 7_800_000].map(formatDuration)).toEqual([
    '0.4 s',
    '9.9 s',
    '10 s',
    '59 s',
    '1 min 00 s',
    '3 min 05 s',
    '2 h 10 min',
  ]);
});

test('an unknown cost is not a cost of nothing', () => {
  expect(formatCost(null)).toBe('cost unknown');
  expect(formatCost(undefined)).toBe('cost unknown');
  expect(formatCost(0)).toBe('$0.00');
  expect(formatCost(0.00001)).toBe('< $0.0001');
  expect(formatCost(0.0123)).toBe('$0.0123');
  expect(formatCost(12.345)).toBe('$12.35');
});

test('counts have their word in the right number', () => {
  expect(formatCount(1, 'step')).toBe('1 step');
  expect(formatCount(12345, 'token')).toBe('12,345 tokens');
});

test('sizes read as people say them', () => {
  expect([0, 812, 999_600, 64_000, 211_400_000, 1_440_000_000].map(formatBytes)).toEqual([
    '0 B',
    '812 B',
    '1.0 MB',
    '64 KB',
    '211 MB',
    '1.4 GB',
  ]);
});

test('ages are rounded down', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(formatAge('2026-01-01T23:59:30Z', now)).toBe('just now');
  expect(formatAge('2026-01-01T23:01:00Z', now)).toBe('59 min ago');
  expect(formatAge('2025-12-30T00:00:00Z', now)).toBe('3 days ago');
});

test('a status line never splits a character and never grows past the terminal', () => {
  expect(fitColumns('short', 10)).toBe('short');
  expect(fitColumns('abcdefghijk', 10)).toBe('abcdefghi…');
  expect(fitColumns('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 4)).toBe('👨‍👩‍👧…');
  expect(fitColumns('日本語日本語', 6)).toBe('日本…');
});

test('columns line up, and the last is left alone', () => {
  expect(
    formatTable([
      ['a', 'bb', 'c'],
      ['aaa', 'b', 'cc'],
    ]),
  ).toEqual(['a    bb  c', 'aaa  b   cc']);
});

test('a JSON line keeps its value and has nothing a terminal acts on', () => {
  const value = { text: '\x1b]0;x\x07\x9b2J\x7f\u2028\ud800' };
  const line = toJsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line).not.toMatch(/\p{Cc}/u);
});
