import { expect, test } from 'vitest';
import { readProblem, unreachable } from './api-problem.ts';
import { EXIT } from './cli-error.ts';

function answer(status: number, body: unknown): Response {
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
}

test('problem details become what, why and what to do', async () => {
  const errors = [{ path: 'budget.maxCostUsd', message: 'must be above 0' }];
  const body = {
    type: 'x',
    title: 'Bad',
    status: 400,
    code: 'request.invalid',
    detail: 'The request is wrong.',
    hint: 'Mend it.',
    errors,
  };
  const error = await readProblem(answer(400, body));
  expect(error).toMatchObject({ exitCode: EXIT.usage, code: 'request.invalid', hint: 'Mend it.' });
  expect(error.message).toBe('The request is wrong. (budget.maxCostUsd: must be above 0)');
});

test('what the sentence says already is said once, the hint too', async () => {
  const title = 'This is not a skill that can be used. SKILL.md:2: no name.';
  const hint = 'Mend what `errors` names.';
  const errors = [
    { path: 'SKILL.md:2', message: 'no name' },
    { path: 'description', message: 'is missing' },
  ];
  const body = { type: 'x', title, status: 422, code: 'skill.invalid', detail: `${title} ${hint}`, hint };
  expect(await readProblem(answer(422, { ...body, errors: errors.slice(0, 1) }))).toMatchObject({
    message: title,
    hint,
  });
  expect((await readProblem(answer(422, { ...body, errors }))).message).toBe(
    `${title} (description: is missing)`,
  );
});

test.each([
  [401, EXIT.notSignedIn],
  [403, EXIT.waiting],
  [404, EXIT.usage],
  [409, EXIT.usage],
  [429, EXIT.failed],
  [500, EXIT.failed],
  [503, EXIT.unreachable],
])('status %i gives exit code %i', async (status, exitCode) => {
  expect((await readProblem(answer(status, '<html>no problem details</html>'))).exitCode).toBe(exitCode);
});

test('a server that is not there: how to start it', () => {
  const error = unreachable(
    new URL('http://127.0.0.1:4800'),
    new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
  );
  expect(error.message).toBe('Cannot reach Vitto at http://127.0.0.1:4800 (ECONNREFUSED).');
  expect(error.hint).toContain('vitto start');
});
