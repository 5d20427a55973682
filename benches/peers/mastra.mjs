// Mastra's agent, without storage and memory.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { createInstantModel, SYSTEM_PROMPT, TOOL, toolResult, USER_PROMPT } from '../instant-model.ts';
import { serveSubject } from '../subject-protocol.ts';
import { packageVersion } from './package-version.mjs';

await serveSubject(async () => ({
  info: {
    name: 'Mastra Agent.generate',
    version: packageVersion('@mastra/core'),
    persists: 'nothing',
  },
  run: async (steps) => {
    let toolCalls = 0;
    const agent = new Agent({
      id: 'bench',
      name: 'bench',
      instructions: SYSTEM_PROMPT,
      model: createInstantModel(steps),
      tools: {
        [TOOL.name]: createTool({
          id: TOOL.name,
          description: TOOL.description,
          inputSchema: z.object({ key: z.string() }),
          execute: async (input) => {
            toolCalls += 1;
            return toolResult(input);
          },
        }),
      },
    });
    const result = await agent.generate(USER_PROMPT, { maxSteps: steps + 1 });
    return { text: result.text, toolCalls };
  },
}));
