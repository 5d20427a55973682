import type { NewEvent } from '@vitto/contracts';
import type { z } from 'zod';
import type { Tool } from '../tools/tool.ts';
import type { Run } from './run-context.ts';
import type { OpenCall } from './run-state.ts';

/** Problems of one call that are told, at most. */
const MAX_PROBLEMS = 8;

/**
 * Checks a call as the model made it: the tool must be offered, its arguments must fit. What is wrong is the model's
 * to mend, so it is told precisely; nothing runs with half an argument.
 */
export function checkCall(run: Run, call: OpenCall): { tool: Tool; input: unknown } | { refusal: NewEvent } {
  const { registry, toolNames } = run.deps;
  const found = registry.find(call.toolName);
  // One that has parked was offered when it began: its result is not lost with a change of the configuration.
  const tool = toolNames.includes(call.toolName) || call.parkedOn !== null ? found : null;
  if (found !== null && tool === null) {
    const reason = run.deps.whyNot(found) ?? 'it was not offered';
    return invalid(call, `${found.name} is not available to this task: ${reason}.`);
  }
  if (tool === null) {
    const near = registry.findNear(call.toolName, toolNames);
    const names =
      near.length > 0 ? `Did you mean ${near.join(', ')}?` : `There are: ${toolNames.join(', ')}.`;
    return invalid(call, `There is no tool named "${call.toolName.slice(0, 100)}". ${names}`);
  }
  if (call.problem !== null) return invalid(call, `The call of ${tool.name} was not run: ${call.problem}.`);
  const parsed = tool.input.safeParse(call.input);
  if (parsed.success) return { tool, input: parsed.data };
  return invalid(
    call,
    `The call of ${tool.name} was not run, its arguments do not fit:\n${listProblems(parsed.error)}`,
  );
}

function listProblems(error: z.ZodError): string {
  const lines = error.issues
    .slice(0, MAX_PROBLEMS)
    .map((issue) => `- ${issue.path.length === 0 ? '(arguments)' : issue.path.join('.')}: ${issue.message}`);
  const more = error.issues.length - lines.length;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}

function invalid(call: OpenCall, text: string): { refusal: NewEvent } {
  return {
    refusal: {
      type: 'tool.called',
      payload: {
        callId: call.callId,
        turn: call.turn,
        tool: call.toolName,
        status: 'invalid',
        text,
        durationMs: 0,
        tier: 'in-process',
      },
    },
  };
}
