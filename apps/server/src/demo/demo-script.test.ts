import { readFileSync } from 'node:fs';
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { deployAgents } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { findAnswer } from '../engine/models/scripted/find-answer.ts';
import { readScript } from '../engine/models/scripted/read-script.ts';
import type { Answer, Turn } from '../engine/models/scripted/script-schema.ts';
import { DEMO_PACKAGE } from './demo-package.ts';
import { DEMO_ROUNDS } from './judge-demo.ts';
import { DEMO_SCRIPT } from './prepare-demo.ts';
import { removePauses } from './remove-pauses.ts';

const text = readFileSync(DEMO_SCRIPT, 'utf8');
const script = readScript(text, 'demo.yaml');
const conversations = script.conversations ?? [];
const PROMPT = 'Some tests fail. The project lies in `/tmp/it`. Mend it.';

/** All answers of turns and of what they fork into. */
function answersOf(turns: readonly Turn[]): Answer[] {
  return turns.flatMap((turn) =>
    'when' in turn ? turn.when.flatMap((branch) => answersOf(branch.turns)) : [turn],
  );
}
const rounds = conversations
  .flatMap(({ turns }) => answersOf(turns))
  .flatMap(({ calls = [] }) => calls)
  .filter(({ tool }) => tool === 'deploy_agents')
  .map((call) => deployAgents.parse(call.arguments));

describe('the script of the demo', () => {
  it('is a script, with pauses and without', () => {
    const bare = readScript(removePauses(text), 'bare.yaml');
    expect(JSON.stringify(script)).toMatch(/"delayMs":\d/);
    expect(JSON.stringify(bare)).not.toMatch(/delayMs|everyMs/);
    expect(bare.conversations).toHaveLength(conversations.length);
  });

  it('mends the very defect that is planted', () => {
    expect(text).toContain(`oldText: ${DEMO_PACKAGE.defect.wrong}\n`);
    expect(text).toContain(`newText: ${DEMO_PACKAGE.defect.right}\n`);
  });

  it('has another branch wherever the outcome of a command decides', () => {
    const forks = conversations.flatMap(({ turns }) =>
      turns.flatMap((turn) => ('when' in turn ? [turn.when] : [])),
    );
    expect(forks.length).toBeGreaterThan(15);
    for (const branches of forks) expect(branches.at(-1)?.if).toBeUndefined();
  });

  it('deploys the rounds that the judge expects, each sub-Vitto with a part of its own', () => {
    expect(rounds.map(({ tasks }) => tasks.length)).toEqual(DEMO_ROUNDS);
    const parts = rounds.flatMap(({ tasks }) =>
      tasks.map(({ role, description }) => {
        const system = `You are a sub-Vitto, deployed as ${role}: Vitto has given you one task.`;
        const fitting = conversations.filter((one) => one.system?.test(system) && one.on?.test(description));
        expect(fitting, description).toHaveLength(1);
        return fitting[0];
      }),
    );
    expect(new Set(parts).size).toBe(4);
  });

  it('waits for the results when somebody writes meanwhile, and goes on with them', () => {
    const before = [
      said('user', PROMPT),
      said('assistant', 'I look.'),
      came(['list_files', 'index.js test'], ['read_file', 'node --test\nCommands run in a VM']),
      said('assistant', 'I deploy.'),
      came(['deploy_agents', 'The user has written before all have ended']),
      said('user', 'How long will it take?'),
    ];
    expect(play(before).calls).toMatchObject([{ tool: 'wait_for_agents' }]);
    const results =
      '3 sub-Vittos: 3 completed.\n`node --test` ended with exit code 1: 94 passed, 4 failed.\n' +
      'The first that fails is "should x" in `test/index.test.js`.\nNo fault found\nlicence: MIT, and\nFound: `unescapeQuotedPairs`, `index.js:62`.';
    const after = [...before, said('assistant', 'I wait.'), came(['wait_for_agents', results])];
    expect(play(after).calls).toMatchObject([{ tool: 'deploy_agents', arguments: rounds[1] }]);
  });

  it('builds on nothing when one of the three did not get through', () => {
    const history = [
      said('user', PROMPT),
      said('assistant', 'I look.'),
      came(['list_files', 'index.js test'], ['read_file', 'node --test\nCommands run in a VM']),
      said('assistant', 'I deploy.'),
      came(['deploy_agents', '3 sub-Vittos: 2 completed, 1 failed.']),
    ];
    expect(play(history).calls).toMatchObject([{ tool: 'task_complete', arguments: { success: false } }]);
  });
});

const play = (prompt: LanguageModelV4Message[]): Answer => findAnswer(script, 'demo.yaml', { prompt }).answer;

function said(role: 'user' | 'assistant', words: string): LanguageModelV4Message {
  return { role, content: [{ type: 'text', text: words }] };
}

function came(...results: [tool: string, text: string][]): LanguageModelV4Message {
  return {
    role: 'tool',
    content: results.map(([toolName, value], index) => ({
      type: 'tool-result',
      toolCallId: `call_${index}`,
      toolName,
      output: { type: 'text', value },
    })),
  };
}
