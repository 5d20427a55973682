import { describe, expect, it } from 'vitest';
import { toSearchWords } from './search-words.ts';

describe('the words of a search', () => {
  it.each([
    ['deploy', "'deploy':*"],
    ['  the   last  wo', "'the' & 'last' & 'wo':*"],
    ["it's", "'it''s':*"],
    ['C:\\temp x', "'C:\\\\temp' & 'x':*"],
    ["a & | ( '", "'a':*"],
    ['a:* !b <-> c', "'a:*' & '!b' & 'c':*"],
    ['🦊', ''],
    ['¡¿?!', ''],
    ['日本語 検索', "'日本語' & '検索':*"],
  ])('of %s are %s', (typed, words) => expect(toSearchWords(typed)).toBe(words));
});
