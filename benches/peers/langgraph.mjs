// LangGraph.js: the graph of its quickstart (a model node and a ToolNode). The argument names the checkpointer.
import { randomUUID } from 'node:crypto';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { z } from 'zod';
import { countQueries } from '../count-queries.ts';
import { FINAL_TEXT, SYSTEM_PROMPT, TOOL, toolInput, toolResult, USER_PROMPT } from '../instant-model.ts';
import { serveSubject } from '../subject-protocol.ts';
import { packageVersion } from './package-version.mjs';

const queries = countQueries(pg.Client);

/** The checkpointers by the name that the bench gives, with the durability that is asked for. */
const SAVERS = {
  none: { title: 'without checkpointer', persists: 'nothing', open: async () => undefined },
  memory: {
    title: 'MemorySaver',
    persists: 'each superstep, in memory: lost with the process',
    open: async () => new MemorySaver(),
  },
  'postgres-async': {
    title: 'PostgresSaver, durability async (default)',
    persists: 'each superstep, PostgreSQL, while the next one runs',
    open: openPostgres,
    durability: 'async',
  },
  'postgres-sync': {
    title: 'PostgresSaver, durability sync',
    persists: 'each superstep, PostgreSQL, before the next one',
    open: openPostgres,
    durability: 'sync',
  },
};

async function openPostgres() {
  const saver = PostgresSaver.fromConnString(process.env.BENCH_DATABASE_URL);
  await saver.setup();
  return saver;
}

class InstantChatModel extends BaseChatModel {
  #turn = 0;
  #steps;
  constructor(steps) {
    super({});
    this.#steps = steps;
  }
  _llmType() {
    return 'instant';
  }
  bindTools() {
    return this;
  }
  async _generate() {
    this.#turn += 1;
    const message =
      this.#turn <= this.#steps
        ? new AIMessage({
            content: '',
            tool_calls: [
              {
                type: 'tool_call',
                id: `call-${this.#turn}`,
                name: TOOL.name,
                args: toolInput(this.#turn),
              },
            ],
          })
        : new AIMessage(FINAL_TEXT);
    return { generations: [{ text: '', message }] };
  }
}

function createGraph(steps, checkpointer, onCall) {
  const lookup = tool(
    async (input) => {
      onCall();
      return toolResult(input);
    },
    { name: TOOL.name, description: TOOL.description, schema: z.object({ key: z.string() }) },
  );
  const model = new InstantChatModel(steps).bindTools([lookup]);
  const callModel = async (state) => ({
    messages: [await model.invoke([{ role: 'system', content: SYSTEM_PROMPT }, ...state.messages])],
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', callModel)
    .addNode('tools', new ToolNode([lookup]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile({ checkpointer });
}

await serveSubject(async () => {
  const { title, persists, open, durability } = SAVERS[process.argv[2]];
  const checkpointer = await open();
  return {
    info: { name: `LangGraph.js ${title}`, version: packageVersion('@langchain/langgraph'), persists },
    run: async (steps) => {
      let toolCalls = 0;
      const before = queries();
      const graph = createGraph(steps, checkpointer, () => (toolCalls += 1));
      const state = await graph.invoke(
        { messages: [{ role: 'user', content: USER_PROMPT }] },
        {
          configurable: { thread_id: randomUUID() },
          recursionLimit: 2 * steps + 10,
          ...(durability === undefined ? {} : { durability }),
        },
      );
      const statements = queries() - before;
      return { text: state.messages.at(-1).text, toolCalls, ...(statements === 0 ? {} : { statements }) };
    },
    close: async () => checkpointer?.end?.(),
  };
});
