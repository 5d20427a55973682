import { VERDICT_SOURCES } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { changesVerdict } from './changes-verdict.ts';

it('lets the stronger word stand, of equals the newest, and takes the same word twice for one', () => {
  const table = VERDICT_SOURCES.flatMap((held) =>
    VERDICT_SOURCES.map((source) => {
      const old = { success: true, verdictSource: held };
      const other = changesVerdict(old, { success: false, source });
      const same = changesVerdict(old, { success: true, source });
      return `${source} over ${held}: ${other ? 'other' : '-'} ${same ? 'same' : '-'}`;
    }),
  );
  expect(table).toEqual([
    'self over self: other -',
    'check over self: other same',
    'user over self: other same',
    'self over check: - -',
    'check over check: other -',
    'user over check: other same',
    'self over user: - -',
    'check over user: - -',
    'user over user: other -',
  ]);
});
