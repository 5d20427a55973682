import { describe, expect, it } from 'vitest';
import { compileInputCheck } from './check-input.ts';

describe('the check of arguments', () => {
  it('says what does not fit, and nothing of what does', () => {
    const check = compileInputCheck({
      type: 'object',
      properties: { path: { type: 'string' }, head: { type: 'integer', minimum: 1 } },
      required: ['path'],
      additionalProperties: false,
    });
    expect(check({ path: '/a', head: 3 })).toBeNull();
    expect(check({ head: 0 })).toMatch(/path.*head/);
    expect(check('text')).toMatch(/object/);
  });
  it.each([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('reads %s', ($schema) => {
    const check = compileInputCheck({ $schema, type: 'object', required: ['a'] });
    expect(check({})).toMatch(/a/);
  });
  it('keeps schemas with one id apart', () => {
    const first = compileInputCheck({ $id: 'same', type: 'object', required: ['a'] });
    const second = compileInputCheck({ $id: 'same', type: 'object', required: ['b'] });
    expect(first({ a: 1 })).toBeNull();
    expect(second({ a: 1 })).toMatch(/b/);
  });
  it('stops a pattern that would run for years', () => {
    const check = compileInputCheck({ type: 'object', properties: { a: { pattern: '^(a+)+$' } } });
    expect(check({ a: `${'a'.repeat(50)}!` })).toMatch(/in time/);
    expect(check({ a: 'aaa' })).toBeNull();
  });
  it('stops references that unfold without an end', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/$defs/n${n + 1}` };
        return [`n${n}`, { allOf: [next, next], properties: {} }];
      }),
    );
    const schema = { type: 'object', $defs: { ...$defs, n40: { type: 'object' } }, $ref: '#/$defs/n0' };
    let told: string | null;
    try {
      told = compileInputCheck(schema)({});
    } catch (error) {
      told = (error as Error).message;
    }
    expect(told).toMatch(/time|timed out/);
  });
  it('stops a reference to itself', () => {
    const check = compileInputCheck({
      type: 'object',
      $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
      $ref: '#/$defs/a',
    });
    expect(check({})).toMatch(/in time/);
  });
});
