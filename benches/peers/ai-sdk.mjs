// The AI SDK's own loop: a ToolLoopAgent. `generate` is its quickest way, `stream` the one that chats use.
import { stepCountIs, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
import { createInstantModel, SYSTEM_PROMPT, TOOL, toolResult, USER_PROMPT } from '../instant-model.ts';
import { serveSubject } from '../subject-protocol.ts';
import { packageVersion } from './package-version.mjs';

const isStreaming = process.argv[2] === 'stream';

function createAgent(steps, onCall) {
  return new ToolLoopAgent({
    model: createInstantModel(steps),
    instructions: SYSTEM_PROMPT,
    tools: {
      [TOOL.name]: tool({
        description: TOOL.description,
        inputSchema: z.object({ key: z.string() }),
        execute: async (input) => {
          onCall();
          return toolResult(input);
        },
      }),
    },
    stopWhen: stepCountIs(steps + 1),
  });
}

async function answer(agent) {
  if (!isStreaming) return (await agent.generate({ prompt: USER_PROMPT })).text;
  const streamed = await agent.stream({ prompt: USER_PROMPT });
  for await (const part of streamed.fullStream) void part;
  return streamed.text;
}

await serveSubject(async () => ({
  info: {
    name: `AI SDK ToolLoopAgent.${isStreaming ? 'stream' : 'generate'}`,
    version: packageVersion('ai'),
    persists: 'nothing',
  },
  run: async (steps) => {
    let toolCalls = 0;
    const agent = createAgent(steps, () => (toolCalls += 1));
    return { text: await answer(agent), toolCalls };
  },
}));
