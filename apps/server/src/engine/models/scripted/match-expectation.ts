import type { Step } from './conversation-view.ts';
import type { Expectation } from './script-schema.ts';

/** What a script can look at in one request. */
export interface Scene {
  step: Step;
  system: string;
  offeredTools: string[];
}

/** `null` when the expectation holds, else both sides in words: what was expected, what is there. */
export function findMismatch(expected: Expectation, scene: Scene): string | null {
  const results = lookAt(expected, scene.step);
  if (typeof results === 'string') return results;
  const text = results.map((result) => result.text).join('\n');
  const saw = `\n--- expected ---\n${describe(expected)}\n--- what came back ---\n${cutForPeople(text)}`;
  for (const part of expected.contains ?? []) {
    if (!text.includes(part)) return `the result does not contain ${JSON.stringify(part)}${saw}`;
  }
  for (const part of expected.lacks ?? []) {
    if (text.includes(part)) return `the result contains ${JSON.stringify(part)}${saw}`;
  }
  if (expected.matches && !expected.matches.test(text)) return `the result does not match${saw}`;
  if (expected.exitCode !== undefined && readExitCode(text) !== expected.exitCode) {
    return `the exit code is ${readExitCode(text) ?? 'not told'}, not ${expected.exitCode}${saw}`;
  }
  if (expected.isError !== undefined && results.some((one) => one.isError) !== expected.isError) {
    return `the result is ${expected.isError ? 'no' : 'an'} error${saw}`;
  }
  return findOtherMismatch(expected, scene);
}

function findOtherMismatch(expected: Expectation, { step, system, offeredTools }: Scene): string | null {
  if (expected.user && !step.userTexts.some((text) => expected.user?.test(text))) {
    return `no new user message matches ${expected.user}; there are: ${cutForPeople(JSON.stringify(step.userTexts))}`;
  }
  if (expected.system && !expected.system.test(system)) {
    return `the system prompt does not match ${expected.system}:\n${cutForPeople(system)}`;
  }
  const missing = (expected.offers ?? []).filter((tool) => !offeredTools.includes(tool));
  return missing.length === 0
    ? null
    : `the request does not offer ${missing.join(', ')}; it offers: ${offeredTools.join(', ')}`;
}

/** The results that an expectation is about, or why there are none. */
function lookAt(expected: Expectation, step: Step): Step['results'] | string {
  const { tool, result } = expected;
  let results = step.results;
  if (result !== undefined) {
    const one = results[result - 1];
    if (one === undefined) return `there is no result number ${result}; there are ${results.length}`;
    results = [one];
  }
  if (tool === undefined) return results;
  const own = results.filter((one) => one.tool === tool);
  const there = results.map((one) => one.tool).join(', ') || 'none';
  return own.length > 0 ? own : `no result of ${tool} came back; results came of: ${there}`;
}

/** The exit code in a result's words or in its JSON: `exit code 1`, `exited with 1`, `"exitCode":1`. */
export function readExitCode(text: string): number | null {
  const found = /(?:exit(?:ed)?[ _-]?(?:with )?(?:code|status)?|exitCode)["']?\s*[:=]?\s*(-?\d+)/iu.exec(
    text,
  );
  return found ? Number(found[1]) : null;
}

function describe(expected: Expectation): string {
  const plain = Object.entries(expected).filter(([, value]) => value !== undefined);
  return plain
    .map(([key, value]) => `${key}: ${value instanceof RegExp ? value : JSON.stringify(value)}`)
    .join('\n');
}

function cutForPeople(text: string): string {
  return text.length <= 2_000 ? text || '(nothing)' : `${text.slice(0, 2_000).toWellFormed()}…`;
}
