import { GuestError, type GuestSession } from '@vitto/contracts';
import type { ToolContext, ToolResult } from '../tool.ts';

/** Runs a tool's work in the task's guest; a guest's refusal becomes a result that the model can act on. */
export async function withGuest(
  context: ToolContext,
  work: (guest: GuestSession) => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await work(await context.claimGuest());
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    return toResult(error);
  }
}

function toResult({ code, message, hint }: GuestError): ToolResult {
  const advice = hint === undefined ? '' : ` ${hint}`;
  const data = { code, ...(hint === undefined ? {} : { hint }) };
  if (code === 'unavailable') return { status: 'error', text: `tool_unavailable: ${message}${advice}`, data };
  return { status: code === 'timed-out' ? 'timeout' : 'error', text: `${code}: ${message}${advice}`, data };
}
