// LangGraph.js: one graph that sends many tasks to a subgraph (its quickstart's: a model node and a ToolNode) with
// `Send` and gathers their answers. Arguments: the checkpointer, how many tasks, how many at once.
import { randomUUID } from 'node:crypto';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  END,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { z } from 'zod';
import { countQueries } from '../count-queries.ts';
import { FINAL_TEXT, SYSTEM_PROMPT, TOOL, toolInput, toolResult, USER_PROMPT } from '../instant-model.ts';
import { serveSubject } from '../subject-protocol.ts';
import { packageVersion } from './package-version.mjs';

const [saverName, tasks, maxConcurrency] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
];
const queries = countQueries(pg.Client);

const SAVERS = {
  memory: { title: 'MemorySaver', persists: 'each superstep, in memory: lost with the process' },
  'postgres-async': {
    title: 'PostgresSaver, async',
    persists: 'each superstep, PostgreSQL, while the next one runs',
    durability: 'async',
  },
  'postgres-sync': {
    title: 'PostgresSaver, sync',
    persists: 'each superstep, PostgreSQL, before the next one',
    durability: 'sync',
  },
};

/** It reads from the messages which turn it is at: the same one serves all tasks. */
class InstantChatModel extends BaseChatModel {
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
  async _generate(messages) {
    const turn = messages.filter((message) => message.getType() === 'ai').length + 1;
    const call = { type: 'tool_call', id: `call-${turn}`, name: TOOL.name, args: toolInput(turn) };
    const message =
      turn <= this.#steps ? new AIMessage({ content: '', tool_calls: [call] }) : new AIMessage(FINAL_TEXT);
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
  const ask = (model) => async (state) => ({
    messages: [await model.invoke([{ role: 'system', content: SYSTEM_PROMPT }, ...state.messages])],
  });
  const agent = new StateGraph(MessagesAnnotation)
    .addNode('agent', ask(new InstantChatModel(steps).bindTools([lookup])))
    .addNode('tools', new ToolNode([lookup]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile();
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    results: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
  });
  const start = { messages: [{ role: 'user', content: USER_PROMPT }] };
  return new StateGraph(State)
    .addNode('deploy', ask(new InstantChatModel(0)))
    .addNode('task', async (input, config) => {
      const { messages } = await agent.invoke(input, config);
      return { results: [messages.at(-1).text] };
    })
    .addNode('gather', ask(new InstantChatModel(0)))
    .addEdge(START, 'deploy')
    .addConditionalEdges('deploy', () => Array.from({ length: tasks }, () => new Send('task', start)), [
      'task',
    ])
    .addEdge('task', 'gather')
    .addEdge('gather', END)
    .compile({ checkpointer });
}

async function openSaver() {
  if (saverName === 'memory') return new MemorySaver();
  const saver = PostgresSaver.fromConnString(process.env.BENCH_DATABASE_URL);
  await saver.setup();
  return saver;
}

await serveSubject(async () => {
  const { title, persists, durability } = SAVERS[saverName];
  const checkpointer = await openSaver();
  return {
    info: { name: `LangGraph.js Send, ${title}`, version: packageVersion('@langchain/langgraph'), persists },
    run: async (steps) => {
      let toolCalls = 0;
      const before = queries();
      const graph = createGraph(steps / tasks, checkpointer, () => (toolCalls += 1));
      const state = await graph.invoke(
        { messages: [{ role: 'user', content: USER_PROMPT }] },
        {
          configurable: { thread_id: randomUUID() },
          maxConcurrency,
          recursionLimit: 2 * steps + 10,
          ...(durability === undefined ? {} : { durability }),
        },
      );
      if (state.results.length !== tasks) throw new Error(`${state.results.length} results of ${tasks}`);
      const statements = queries() - before;
      return { text: state.messages.at(-1).text, toolCalls, ...(statements === 0 ? {} : { statements }) };
    },
    close: async () => checkpointer.end?.(),
  };
});
