import { actionDomain } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { inferDomain, type RanTool } from './infer-domain.ts';

const tool = (domain: string, hasWorked = true): RanTool => ({ tool: `a_${domain}`, domain, hasWorked });
/** From what can do least harm to what can do most. */
const BY_RISK = [
  'system',
  'knowledge',
  'web_search',
  'delegation',
  'code_execution',
  'deployment',
  'messaging',
] as const;

describe('the domain of a task', () => {
  it('is of the riskiest tool, in whatever order they were used', () => {
    expect([...BY_RISK].sort()).toEqual([...actionDomain.options].sort());
    BY_RISK.forEach((domain, index) => {
      const upTo = BY_RISK.slice(0, index + 1).map((one) => tool(one));
      expect(inferDomain(upTo, true)).toBe(domain);
      expect(inferDomain(upTo.toReversed(), false)).toBe(domain);
    });
  });

  it('is system when it used no tool, or none that this version knows', () => {
    expect(inferDomain([], true)).toBe('system');
    expect(inferDomain([tool('telepathy')], true)).toBe('system');
  });

  it('is where something worked when it succeeded, and where it was tried when it failed', () => {
    const tools = [tool('messaging', false), tool('knowledge')];
    expect(inferDomain(tools, true)).toBe('knowledge');
    expect(inferDomain(tools, false)).toBe('messaging');
  });
});
