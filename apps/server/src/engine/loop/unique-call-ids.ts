import type { AssistantPart } from '../models/model.ts';

/**
 * Makes the ids of a turn's calls unique in the task, since results and approvals are kept by them. Providers that
 * number the calls of each turn anew get a new id; a second call with the same id in one turn is marked as wrong.
 */
export function giveUniqueCallIds(
  content: AssistantPart[],
  isUsed: (id: string) => boolean,
  turn: number,
): AssistantPart[] {
  const inTurn = new Set<string>();
  return content.map((part, index) => {
    if (part.type !== 'tool-call') return part;
    const isDuplicate = inTurn.has(part.toolCallId);
    inTurn.add(part.toolCallId);
    const isTaken = isDuplicate || isUsed(part.toolCallId) || part.toolCallId === '';
    if (!isTaken) return part;
    const toolCallId = freeId(
      `${part.toolCallId || 'call'}_t${turn}_${index}`,
      (id) => isUsed(id) || inTurn.has(id),
    );
    inTurn.add(toolCallId);
    if (!isDuplicate) return { ...part, toolCallId };
    const problem = `the call id "${part.toolCallId}" was used twice in one turn; give each call its own`;
    const own = { ...part.providerOptions?.['vitto'], problem };
    return { ...part, toolCallId, providerOptions: { ...part.providerOptions, vitto: own } };
  });
}

function freeId(wanted: string, isTaken: (id: string) => boolean): string {
  let id = wanted;
  for (let more = 2; isTaken(id); more += 1) id = `${wanted}_${more}`;
  return id;
}
