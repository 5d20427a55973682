// OpenAI Agents JS with a model of its own interface; tracing off, no session.
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { FINAL_TEXT, SYSTEM_PROMPT, TOOL, toolInput, toolResult, USER_PROMPT } from '../instant-model.ts';
import { serveSubject } from '../subject-protocol.ts';
import { packageVersion } from './package-version.mjs';

setTracingDisabled(true);

function createModel(steps) {
  let turn = 0;
  const next = () => {
    turn += 1;
    const output =
      turn <= steps
        ? {
            type: 'function_call',
            callId: `call-${turn}`,
            name: TOOL.name,
            status: 'completed',
            arguments: JSON.stringify(toolInput(turn)),
          }
        : {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: FINAL_TEXT }],
          };
    return {
      usage: new Usage({ requests: 1, inputTokens: 100, outputTokens: 10, totalTokens: 110 }),
      output: [output],
    };
  };
  return {
    getResponse: async () => next(),
    getStreamedResponse: () => {
      throw new Error('not used here');
    },
  };
}

await serveSubject(async () => ({
  info: {
    name: 'OpenAI Agents JS Runner.run',
    version: packageVersion('@openai/agents'),
    persists: 'nothing',
  },
  run: async (steps) => {
    let toolCalls = 0;
    const agent = new Agent({
      name: 'bench',
      instructions: SYSTEM_PROMPT,
      model: createModel(steps),
      tools: [
        tool({
          name: TOOL.name,
          description: TOOL.description,
          parameters: z.object({ key: z.string() }),
          execute: async (input) => {
            toolCalls += 1;
            return toolResult(input);
          },
        }),
      ],
    });
    const runner = new Runner({ tracingDisabled: true });
    const result = await runner.run(agent, USER_PROMPT, { maxTurns: steps + 2 });
    return { text: result.finalOutput ?? '', toolCalls };
  },
}));
