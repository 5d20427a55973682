import { expect, it } from 'vitest';
import { explainFailure } from './explain-failure.ts';

it.each([
  ['mke2fs: No space left on device while writing', 'image.no-space'],
  [
    'E: Failed to fetch http://deb.debian.org/x  Could not connect to deb.debian.org:80',
    'image.registry-down',
  ],
  ["W: Temporary failure resolving 'deb.debian.org'\nE: apt-get update failed", 'image.registry-down'],
  [
    'npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org/npm failed',
    'image.registry-down',
  ],
  ['E: Unable to locate package giit', 'image.build-failed'],
])('what programs say becomes what to do: %s', (output, code) => {
  const error = explainFailure('mmdebstrap', 'exit code 1', output);
  expect(error.code).toBe(code);
  expect(error.hint).toMatch(/\w/);
});

it('of a long output the errors are told', () => {
  const output = 'Reading lists\nE: Unable to locate package giit\nI: cleaning up\n';
  expect(explainFailure('mmdebstrap', 'exit code 25', output).message).toBe(
    'mmdebstrap failed (exit code 25): E: Unable to locate package giit',
  );
});
