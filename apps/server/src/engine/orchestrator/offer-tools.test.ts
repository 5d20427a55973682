import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import type { ActionDomain, Tier } from '@vitto/contracts';
import { ToolRegistry } from '../tools/registry.ts';
import { defineTool } from '../tools/tool.ts';
import { offerTools, type OfferFilter } from './offer-tools.ts';

function tool(name: string, tier: Tier = 'in-process', domain: ActionDomain = 'system') {
  return defineTool({
    name,
    description: name,
    input: z.object({}),
    domain,
    risk: 'read',
    tier,
    idempotency: 'pure',
    timeoutMs: 1,
    run: () => Promise.resolve({ status: 'ok', text: '' }),
  });
}
const registry = new ToolRegistry([
  {
    name: 'all',
    tools: [
      ...['task_complete', 'ask_user', 'read_artifact', 'whistle_user', 'query_system_status'].map((name) =>
        tool(name),
      ),
      ...['deploy_agents', 'wait_for_agents', 'steer_agent', 'stop_agent'].map((name) => tool(name)),
      ...['run_command', 'read_file', 'write_file', 'edit_file', 'search_code', 'list_files'].map((name) =>
        tool(name, 'vm'),
      ),
      tool('fetch_webpage'),
      tool('use_skill'),
      tool('mcp__wiki__find', 'in-process', 'knowledge'),
      tool('mcp__mail__send', 'in-process', 'messaging'),
    ],
  },
]);
const limits = { maxDepth: 2, depth2MaxTools: 5 };
const offer = (filter: Partial<OfferFilter>, more: Partial<typeof limits> = {}) =>
  offerTools(registry, { depth: 1, tier: 'vm', role: null, named: null, ...filter }, { ...limits, ...more });

describe('the tools of a task', () => {
  it('are all for a root, and all of its tier for one at depth 1 without a role', () => {
    expect(offer({ depth: 0, tier: null }).names).toEqual(registry.names);
    expect(offer({}).names).toEqual(registry.names);
    const inProcess = offer({ tier: 'in-process' }).names;
    expect(inProcess).toContain('deploy_agents');
    expect(inProcess).not.toContain('run_command');
  });

  it('are those of its role, with what a user brought of that kind, and always the core ones', () => {
    const { names, withheld } = offer({ role: 'reviewer' });
    expect(names).toEqual(
      expect.arrayContaining([
        'task_complete',
        'ask_user',
        'read_artifact',
        'read_file',
        'run_command',
        'mcp__wiki__find',
      ]),
    );
    expect(names).not.toContain('write_file');
    expect(names).not.toContain('mcp__mail__send');
    expect(names).not.toContain('whistle_user');
    expect(withheld).toEqual([]);
  });

  it('say why one that the role would have is not there', () => {
    const { withheld } = offer({ role: 'coder', tier: 'in-process' });
    expect(withheld).toContainEqual({
      tool: 'run_command',
      reason: 'it needs the tier vm, this sub-Vitto works in in-process',
    });
    const named = offer({ role: 'writer', named: ['run_command', 'write_file'] });
    expect(named.names).toContain('write_file');
    expect(named.names).not.toContain('edit_file');
    expect(named.withheld).toContainEqual({
      tool: 'run_command',
      reason: 'the role writer does not have it',
    });
    const why = registry.find('edit_file');
    expect(why === null ? null : named.whyNot(why)).toBe('it is not among the tools that were named for it');
  });

  it.each(['researcher', 'coder', 'reviewer', 'tester', 'writer', 'operator'])(
    'are at most five at depth 2 for a %s, in-process alone, and none that deploys',
    (role) => {
      const { names } = offer({ depth: 2, tier: 'in-process', role });
      expect(names.length).toBeLessThanOrEqual(5);
      expect(names).toEqual(expect.arrayContaining(['task_complete', 'ask_user', 'read_artifact']));
      for (const name of names) expect(registry.find(name)?.tier).toBe('in-process');
      expect(names).not.toContain('deploy_agents');
    },
  );

  it('are the useful ones first where only a few may be had', () => {
    expect(offer({ depth: 2, tier: 'in-process' }).names).toContain('fetch_webpage');
    expect(offer({ depth: 2, tier: 'in-process', named: ['mcp__mail__send'] }).names).toContain(
      'mcp__mail__send',
    );
    expect(offer({ depth: 2, tier: 'in-process' }, { depth2MaxTools: 3 }).names).toHaveLength(3);
  });

  it('hold none that deploys where that is switched off', () => {
    expect(offer({ depth: 0, tier: null }, { maxDepth: 0 }).names).not.toContain('deploy_agents');
    expect(offer({}, { maxDepth: 1 }).names).not.toContain('deploy_agents');
    const tool = registry.find('deploy_agents');
    expect(tool === null ? '' : offer({ depth: 0, tier: null }, { maxDepth: 0 }).whyNot(tool)).toContain(
      'VITTO_MAX_NESTING_DEPTH',
    );
  });

  it('give nothing away for a role that this version does not know', () => {
    expect(offer({ role: 'constructor' }).names).toEqual(expect.not.arrayContaining(['run_command']));
  });
});
