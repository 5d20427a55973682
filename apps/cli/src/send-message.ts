import { resolve } from 'node:path';
import type { Budget } from '@vitto/contracts';
import { Option, type Command } from 'commander';
import { readPositive } from './read-number.ts';
import type { Context } from './context.ts';
import { resolveModelFiles } from './model-list.ts';
import type { StartedTask } from './watch-task.ts';

export interface MessageOptions {
  conversation?: string;
  path: string[];
  model?: string;
  maxCost?: number;
  maxIterations?: number;
  stream?: boolean;
}

/** The options of every command that starts a task. */
export function addMessageOptions(command: Command): Command {
  return command
    .option('--path <dir>', 'a folder that the task may read (repeatable)', collect, [])
    .option('--model <list>', 'models to use, with fallbacks after commas')
    .addOption(new Option('--max-cost <usd>', 'what it may cost, in US dollars').argParser(readPositive))
    .addOption(new Option('--max-iterations <n>', 'how many steps it may take').argParser(readPositive))
    .option('--stream', 'write text as it comes, into a pipe too');
}

/** Sends a message: into a conversation, or to begin one. */
export async function sendMessage(
  context: Context,
  text: string,
  options: MessageOptions,
): Promise<StartedTask> {
  const { api } = context;
  const allowedPaths = options.path.map((path) => resolve(path));
  const budget = readBudget(options);
  const model = options.model === undefined ? {} : { model: resolveModelFiles(options.model) };
  const limits = Object.keys(budget).length === 0 ? {} : { budget };
  const conversationId = options.conversation;
  if (conversationId === undefined) {
    const paths = allowedPaths.length === 0 ? {} : { allowedPaths };
    const task = await api.createTask({ prompt: text, ...paths, ...model, ...limits });
    return { taskId: task.id, conversationId: task.conversationId ?? '', messageId: null };
  }
  if (allowedPaths.length > 0) await allowPaths(context, conversationId, allowedPaths);
  const { taskId, messageId, outcome } = await api.sendMessage(conversationId, { text, ...model, ...limits });
  return { taskId, conversationId, messageId: outcome === 'started' ? null : messageId };
}

async function allowPaths({ api }: Context, conversationId: string, paths: string[]): Promise<void> {
  const known = (await api.findConversation(conversationId)).allowedPaths;
  const allowedPaths = [...new Set([...known, ...paths])];
  if (allowedPaths.length > known.length) await api.updateConversation(conversationId, { allowedPaths });
}

function readBudget({ maxCost, maxIterations }: MessageOptions): Partial<Budget> {
  return {
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
  };
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
