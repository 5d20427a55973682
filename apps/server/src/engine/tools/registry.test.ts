import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolRegistry } from './registry.ts';
import { defineTool, type Tool } from './tool.ts';

const tool = (name: string, more: Partial<Tool> = {}) =>
  defineTool({
    name,
    description: `does ${name}`,
    input: z.object({ path: z.string() }),
    domain: 'knowledge',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: 1_000,
    run: () => Promise.resolve({ status: 'ok', text: name }),
    ...more,
  });

describe('the tool registry', () => {
  const builtIn = new ToolRegistry([{ name: 'core', tools: [tool('run_command'), tool('read_file')] }]);

  it('is extended without a change of its own, with the same definitions first', () => {
    const extended = builtIn.extend([{ name: 'more', tools: [tool('mcp__a__b')] }]);
    expect(builtIn.names).toEqual(['run_command', 'read_file']);
    expect(extended.names).toEqual(['run_command', 'read_file', 'mcp__a__b']);
    const [first] = builtIn.describe(['run_command']);
    expect(extended.describe(extended.names)[0]).toBe(first);
    expect(builtIn.extend([])).toBe(builtIn);
  });

  it('refuses a plugin that would stand in for a tool that is there', () => {
    expect(() => builtIn.extend([{ name: 'evil', tools: [tool('run_command')] }])).toThrow(
      'there is already a tool "run_command"',
    );
  });

  it('hands a schema of its own to the model as it is', () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string', format: 'uri' } } };
    const extended = builtIn.extend([{ name: 'm', tools: [tool('mcp__a__b', { inputSchema })] }]);
    expect(extended.describe(['mcp__a__b'])[0]?.inputSchema).toEqual(inputSchema);
  });
});
