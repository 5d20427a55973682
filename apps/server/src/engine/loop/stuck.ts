/** A call with its result, as the detector compares it. */
export interface CompletedCall {
  turn: number;
  /** Tool and arguments. */
  signature: string;
  tool: string;
  result: string;
}
export interface Stuck {
  pattern: 'repeat' | 'alternation' | 'no-progress';
  note: string;
  tried: string[];
}

/** Turns in a row with neither a call nor new text before the model is told. */
const IDLE_LIMIT = 3;

/**
 * Finds a model that goes in circles (specification 01): the same call with the same result three times in a row, two
 * that alternate with unchanged results, or turns that do nothing. Polling something that changes is not being stuck.
 * Calls are compared one by one, and also turn by turn, for models that make several calls at once.
 */
export function findStuck(calls: CompletedCall[], idleTurns: number): Stuck | null {
  if (idleTurns >= IDLE_LIMIT) {
    return {
      pattern: 'no-progress',
      note: 'Your last turns neither used a tool nor said anything new. Take the next step with a tool, or give your final answer.',
      tried: [],
    };
  }
  const single = calls.map((call) => ({ key: `${call.signature}\n${call.result}`, name: call.signature }));
  return findCircle(single) ?? findCircle(groupByTurn(calls));
}

interface Step {
  key: string;
  name: string;
}

function groupByTurn(calls: CompletedCall[]): Step[] {
  const steps = new Map<number, Step>();
  for (const call of calls) {
    const step = steps.get(call.turn) ?? { key: '', name: '' };
    step.key += `${call.signature}\n${call.result}\n`;
    step.name += `${call.signature} `;
    steps.set(call.turn, step);
  }
  return [...steps.values()];
}

function findCircle(steps: Step[]): Stuck | null {
  const [d, c, b, a] = [steps.at(-1), steps.at(-2), steps.at(-3), steps.at(-4)];
  if (d === undefined || c === undefined || b === undefined) return null;
  if (d.key === c.key && c.key === b.key) {
    return {
      pattern: 'repeat',
      note: 'You have made the same call three times with the same result. It will not change. Try something else, or say what stands in the way.',
      tried: [d.name.trim()],
    };
  }
  if (a !== undefined && d.key === b.key && c.key === a.key) {
    return {
      pattern: 'alternation',
      note: 'You go back and forth between two calls whose results do not change. Try something else, or say what stands in the way.',
      tried: [c.name.trim(), d.name.trim()],
    };
  }
  return null;
}
