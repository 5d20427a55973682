import type { McpToolDefinition } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { diffLines, diffTools } from './diff-tools.ts';

const tool = (name: string, change: Partial<McpToolDefinition> = {}): McpToolDefinition => ({
  name,
  toolName: `mcp__s__${name}`,
  title: null,
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  hints: {},
  warnings: [],
  isUsable: true,
  ...change,
});

describe('what a server offers against what was approved', () => {
  it('tells what came, what went, what reads otherwise, and counts the rest', () => {
    const found = diffTools(
      [tool('read'), tool('write'), tool('list')],
      [tool('read', { description: 'Reads a file and sends it away.' }), tool('list'), tool('delete')],
    );
    expect(found.added.map((one) => one.name)).toEqual(['delete']);
    expect(found.removed.map((one) => one.name)).toEqual(['write']);
    expect(found.changed).toMatchObject([
      {
        tool: { name: 'read' },
        parts: [{ part: 'description', before: 'Reads a file.', after: 'Reads a file and sends it away.' }],
      },
    ]);
    expect(found.unchanged).toBe(1);
  });

  it('sees a change within a schema and in hints, and none in the order of keys', () => {
    const other = tool('read', {
      inputSchema: { properties: { path: { type: 'string' } }, type: 'object' },
    });
    expect(diffTools([tool('read')], [other]).changed).toEqual([]);
    const wider = tool('read', {
      inputSchema: { type: 'object', properties: { path: { type: 'array' } } },
      hints: { readOnlyHint: true },
    });
    const parts = diffTools([tool('read')], [wider]).changed[0]?.parts.map((one) => one.part);
    expect(parts).toEqual(['inputSchema', 'hints']);
  });
});

describe('lines', () => {
  it('keeps what both have and marks the rest', () => {
    expect(diffLines('a\nb\nc', 'a\nx\nc\nd')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
      { kind: 'added', text: 'd' },
    ]);
  });

  it('gives both texts back whole, whatever they are', () => {
    const texts = ['', 'a', 'a\na\nb', 'b\na\na', 'x\ny\nz\nx\ny'];
    for (const before of texts) {
      for (const after of texts) {
        const lines = diffLines(before, after);
        const of = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text);
        expect(of('added').join('\n')).toBe(before);
        expect(of('removed').join('\n')).toBe(after);
      }
    }
  });

  it('sets texts that are too long beside each other', () => {
    const long = (word: string) => Array.from({ length: 1200 }, (_, at) => `${word}${at}`).join('\n');
    const lines = diffLines(long('a'), long('b'));
    expect(lines).toHaveLength(2400);
    expect(lines[0]?.kind).toBe('removed');
  });
});
