import { describe, expect, it } from 'vitest';
import { nameTool } from './tool-name.ts';

const LONGEST_SERVER = 'a'.repeat(24);

describe('the name of a tool', () => {
  it.each(['read_text_file', 'get-env', 'X', 'a'.repeat(33)])('keeps %s', (tool) => {
    expect(nameTool(LONGEST_SERVER, tool)).toEqual({
      toolName: `mcp__${LONGEST_SERVER}__${tool}`,
      isChanged: false,
    });
  });
  it.each(['a'.repeat(34), 'files/read', 'größe', '🎉', '', '../../etc', 'a b', 'a\nb', 'x'.repeat(100_000)])(
    'makes a name of %s that providers take, and the same each time',
    (tool) => {
      const { toolName, isChanged } = nameTool(LONGEST_SERVER, tool);
      expect(toolName).toMatch(/^mcp__a{24}__[a-zA-Z0-9_-]{1,33}$/);
      expect(isChanged).toBe(true);
      expect(nameTool(LONGEST_SERVER, tool).toolName).toBe(toolName);
    },
  );
  it('tells names apart that begin alike', () => {
    const long = 'a'.repeat(60);
    expect(nameTool('s', `${long}1`).toolName).not.toBe(nameTool('s', `${long}2`).toolName);
    expect(nameTool('s', 'a/b').toolName).not.toBe(nameTool('s', 'a.b').toolName);
  });
});
