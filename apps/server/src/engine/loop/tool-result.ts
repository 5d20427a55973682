import type { ArtifactRef, EventPayload, NewEvent, ToolStatus } from '@vitto/contracts';
import { cutMiddle } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { ArtifactAccess, Tool, ToolResult } from '../tools/tool.ts';
import type { OpenCall } from './run-state.ts';

/** What of one result the model is given, in UTF-16 units; the whole is kept as an artifact. */
export const RESULT_MAX_LENGTH = 16_000;

type Result = Omit<ToolResult, 'status'> & { status: ToolStatus };

/** The event of a call's end. */
export function toResultEvent(
  call: Pick<OpenCall, 'callId' | 'turn'>,
  tool: Pick<Tool, 'name' | 'tier'>,
  result: Result,
  how: { durationMs: number; ranOn?: EventPayload<'tool.called'>['ranOn'] },
): NewEvent {
  return {
    type: 'tool.called',
    payload: {
      callId: call.callId,
      turn: call.turn,
      tool: tool.name,
      status: result.status,
      text: result.text,
      ...(result.data === undefined ? {} : { data: result.data as never }),
      ...(result.artifacts === undefined || result.artifacts.length === 0
        ? {}
        : { artifacts: result.artifacts }),
      ...(result.untrusted === undefined ? {} : { untrusted: result.untrusted }),
      durationMs: Math.round(how.durationMs),
      tier: tool.tier,
      ...(how.ranOn === undefined ? {} : { ranOn: how.ranOn }),
    },
  };
}

/** Cuts a long result to head and tail for the model and keeps the whole of it as an artifact. */
export async function boundResult(
  result: ToolResult,
  tool: string,
  artifacts: ArtifactAccess,
): Promise<ToolResult> {
  const text = maskSecrets(result.text);
  if (text.length <= RESULT_MAX_LENGTH) return { ...result, text };
  let kept: ArtifactRef | null = null;
  let note: string;
  try {
    kept = await artifacts.save(`${tool}-result.txt`, 'text/plain; charset=utf-8', text);
    note = `The whole result (${kept.bytes} bytes) is artifact ${kept.id}; page through it with read_artifact.`;
  } catch {
    note = 'The whole result could not be kept (no space left).';
  }
  return {
    ...result,
    text: `${cutMiddle(text, RESULT_MAX_LENGTH).text}\n\n[${note}]`,
    artifacts: [...(result.artifacts ?? []), ...(kept === null ? [] : [kept])],
  };
}
