import { expect, test } from 'vitest';
import { barLine } from './image-progress.ts';

test('the bar fills as the build goes on, and never beyond its width', () => {
  expect(barLine({ step: 'Making the disk', fraction: 0 }, 400)).toBe(
    `${'░'.repeat(24)}   0 %  Making the disk (0.4 s)`,
  );
  expect(barLine({ step: 'Making the disk', fraction: 0.5 }, 61_000)).toBe(
    `${'█'.repeat(12)}${'░'.repeat(12)}  50 %  Making the disk (1 min 01 s)`,
  );
  expect(barLine({ step: 'x', fraction: 1 }, 0)).toContain(`${'█'.repeat(24)} 100 %`);
});
