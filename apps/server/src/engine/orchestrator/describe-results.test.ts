import { describe, expect, it } from 'vitest';
import type { SubVittoRecord } from '../journal/sub-vitto.store.ts';
import { RESULT_MAX_LENGTH } from '../loop/tool-result.ts';
import type { ArtifactAccess } from '../tools/tool.ts';
import { describeResults, describeStanding } from './describe-results.ts';

function child(at: number, more: Partial<SubVittoRecord> = {}): SubVittoRecord {
  return {
    id: `id-${at}`,
    role: null,
    tier: 'in-process',
    title: `task ${at}`,
    state: 'completed',
    result: `result ${at}`,
    isSuccess: true,
    error: null,
    ranMs: 1_234,
    iterations: 2,
    tokens: 500,
    isTainted: false,
    files: [],
    ...more,
  } as unknown as SubVittoRecord;
}
function keeping() {
  const kept: string[] = [];
  const artifacts = {
    save: (name: string, mediaType: string, content: string) => {
      kept.push(content);
      return Promise.resolve({ id: 'a1', name, mediaType, bytes: Buffer.byteLength(content) });
    },
  } as unknown as ArtifactAccess;
  return { kept, artifacts };
}

describe('the results of sub-Vittos', () => {
  it.each([3, 9_000])(
    'read the same when they took longer, so that a recording can be played',
    async (length) => {
      const results = [1, 2, 3].map((at) => child(at, { result: 'x'.repeat(length) }));
      const slower = results.map((one) => ({ ...one, ranMs: 61_000 }));
      const once = await describeResults(results, keeping().artifacts);
      expect((await describeResults(slower, keeping().artifacts)).text).toBe(once.text);
    },
  );

  it('stand in the order they were deployed, each with how it ended', async () => {
    const { artifacts, kept } = keeping();
    const { text, data, untrusted } = await describeResults(
      [
        child(1, {
          role: 'tester',
          tier: 'vm',
          files: [{ id: 'a9', name: 'out.patch', mediaType: 'text/x-diff', bytes: 12 }],
        }),
        child(2, { isSuccess: false }),
        child(3, {
          state: 'failed',
          result: null,
          error: { code: 'budget.tokens-exceeded', message: 'No tokens.', summary: 'Half is done.' },
        }),
        child(4, { state: 'failed', error: { code: 'budget.duration-exceeded', message: 'No time.' } }),
        child(5, { state: 'cancelled', result: null }),
      ],
      artifacts,
    );
    expect(text).toBe(
      [
        '5 sub-Vittos: 1 completed, 1 completed, but says it did not succeed, 1 failed, 1 timed out, 1 cancelled.',
        '1. tester (vm): completed after 2 steps, 500 tokens (id id-1)\nFile: out.patch (12 bytes), artifact a9\nresult 1',
        '2. agent (in-process): completed, but says it did not succeed after 2 steps, 500 tokens (id id-2)\nresult 2',
        '3. agent (in-process): failed after 2 steps, 500 tokens (id id-3)\nbudget.tokens-exceeded: No tokens.\nWhat it had done: Half is done.',
        '4. agent (in-process): timed out after 2 steps, 500 tokens (id id-4)\nbudget.duration-exceeded: No time.',
        '5. agent (in-process): cancelled after 2 steps, 500 tokens (id id-5)\nIt was stopped before it had a result.',
      ].join('\n\n'),
    );
    expect(data).toMatchObject({
      agents: [
        { status: 'completed' },
        { success: false },
        { status: 'failed' },
        { status: 'timeout' },
        { status: 'cancelled' },
      ],
    });
    expect(untrusted).toBeUndefined();
    expect(kept).toEqual([]);
  });

  it.each([3, 20, 100])(
    'leave each of %i its share when they are long, and keep all of it',
    async (count) => {
      const { artifacts, kept } = keeping();
      const many = Array.from({ length: count }, (_, at) =>
        child(at, {
          id: `019a0000-0000-7000-8000-${String(at).padStart(12, '0')}`,
          result: `begin ${at} ${'🦊'.repeat(5_000)} end ${at}`,
        }),
      );
      const result = await describeResults(many, artifacts);
      expect(result.text.length).toBeLessThanOrEqual(RESULT_MAX_LENGTH);
      expect(result.text.length).toBeGreaterThan(RESULT_MAX_LENGTH * 0.9);
      for (const at of [0, Math.floor(count / 2), count - 1]) expect(result.text).toContain(`begin ${at} 🦊`);
      if (count === 3) expect(result.text).toContain('🦊 end 2\n');
      expect(result.text.isWellFormed()).toBe(true);
      expect(result.text).toContain('artifact a1');
      expect(kept[0]).toContain(many.at(-1)?.result);
      expect(result.artifacts).toHaveLength(1);
    },
  );

  it('are framed when one of them has read text from outside', async () => {
    const { untrusted } = await describeResults(
      [child(1), child(2, { isTainted: true })],
      keeping().artifacts,
    );
    expect(untrusted).toBe('what sub-Vittos read');
  });

  it('are told as they stand before all have ended', () => {
    expect(
      describeStanding([child(1), child(2, { state: 'waiting_input' }), child(3, { state: 'queued' })]),
    ).toBe(
      [
        '1. agent (in-process): completed (id id-1): task 1',
        '2. agent (in-process): waiting input (id id-2): task 2',
        '3. agent (in-process): queued (id id-3): task 3',
      ].join('\n'),
    );
  });
});
