/** URL of the PostgreSQL that the tests use; the global set-up of the test runner has started it. */
export function testServerUrl(): string {
  const url = process.env['VITTO_TEST_DATABASE_URL'];
  if (url === undefined)
    throw new Error('run these tests with `npm test` or vitest: its global set-up starts PostgreSQL');
  return url;
}
