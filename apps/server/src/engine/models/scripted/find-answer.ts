import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { ModelError } from '../model.ts';
import { stepsSince, systemTextOf, textOf } from './conversation-view.ts';
import type { Step } from './conversation-view.ts';
import { findMismatch } from './match-expectation.ts';
import type { Scene } from './match-expectation.ts';
import type { Answer, Conversation, Expectation, Script, Turn } from './script-schema.ts';

/** The answer that the script has for a request, and the values that have been captured on the way to it. */
export interface FoundAnswer {
  answer: Answer;
  captured: ReadonlyMap<string, string>;
  /** Where it stands in the script, for messages. */
  place: string;
}

/**
 * Finds the answer from the request alone: the conversation by its user messages, the turn by the number of assistant
 * messages since. Nothing is remembered between calls, so a task that resumes in another process goes on rightly.
 * Forks and captures of earlier turns are worked out again from the history. Throws `model.divergence`.
 */
export function findAnswer(script: Script, file: string, options: LanguageModelV4CallOptions): FoundAnswer {
  const system = systemTextOf(options.prompt);
  const offeredTools = (options.tools ?? []).map((tool) => tool.name);
  const { conversation, anchor, place } = findConversation(script, file, options.prompt, system);
  const steps = stepsSince(options.prompt, anchor);
  const captured = new Map<string, string>();
  const queue = conversation.turns.map((turn, index) => ({ turn, place: `${place}turns.${index}` }));

  for (const [index, step] of steps.entries()) {
    const isNow = index === steps.length - 1;
    const scene: Scene = { step, system, offeredTools };
    const next = takeAnswer(queue, scene, file);
    // Earlier turns have been checked when they were played; they are walked again for their forks and captures.
    if (isNow) checkExpectations(next.answer.expect, scene, file, next.place);
    capture(next.answer, step, captured, file, next.place, isNow);
    if (isNow) return { ...next, captured };
  }
  throw new Error('a conversation has at least one step');
}

function findConversation(
  script: Script,
  file: string,
  prompt: LanguageModelV4CallOptions['prompt'],
  system: string,
): { conversation: Conversation; anchor: number; place: string } {
  if (script.turns !== undefined) return { conversation: { turns: script.turns }, anchor: 0, place: '' };
  const all = (script.conversations ?? []).map((conversation, index) => ({
    conversation,
    place: `conversations.${index}.`,
  }));
  const fitting = all.filter(({ conversation }) => conversation.system?.test(system) ?? true);
  for (let anchor = prompt.length - 1; anchor >= 0; anchor -= 1) {
    const message = prompt[anchor];
    if (message?.role !== 'user') continue;
    const found = fitting.find(({ conversation }) => conversation.on?.test(textOf(message)));
    if (found) return { ...found, anchor };
  }
  const standing = fitting.find(({ conversation }) => conversation.on === undefined);
  if (standing) return { ...standing, anchor: 0 };
  const last = prompt.findLast(({ role }) => role === 'user');
  const asked = all.map(({ conversation, place }) => `${place}on: ${conversation.on ?? '(any)'}`).join('\n');
  const there = last ? textOf(last).slice(0, 500) : '(no user message)';
  throw diverged(
    file,
    `no conversation fits\n--- expected one of ---\n${asked}\n--- user message ---\n${there}`,
  );
}

type Placed = { turn: Turn; place: string };

/** Takes the next answer off the queue, going into the branch of every fork on the way. */
function takeAnswer(queue: Placed[], scene: Scene, file: string): { answer: Answer; place: string } {
  for (;;) {
    const next = queue.shift();
    if (next === undefined) {
      throw diverged(file, 'the script has no more turns, but the model is asked for one');
    }
    if (!('when' in next.turn)) return { answer: next.turn, place: next.place };
    const misses: string[] = [];
    const taken = next.turn.when.findIndex((branch) => {
      const missed = (branch.if ?? []).map((one) => findMismatch(one, scene)).filter((miss) => miss !== null);
      misses.push(...missed);
      return missed.length === 0;
    });
    const branch = next.turn.when[taken];
    if (branch === undefined) throw diverged(file, `at ${next.place} no branch fits:\n${misses.join('\n')}`);
    const place = `${next.place}.when.${taken}.turns`;
    queue.unshift(...branch.turns.map((turn, index) => ({ turn, place: `${place}.${index}` })));
  }
}

function checkExpectations(
  expected: Expectation[] | undefined,
  scene: Scene,
  file: string,
  place: string,
): void {
  for (const one of expected ?? []) {
    const mismatch = findMismatch(one, scene);
    if (mismatch !== null) throw diverged(file, `at ${place}: ${mismatch}`);
  }
}

function capture(
  answer: Answer,
  step: Step,
  captured: Map<string, string>,
  file: string,
  place: string,
  mustMatch: boolean,
): void {
  const text = [...step.results.map((result) => result.text), ...step.userTexts].join('\n');
  for (const [name, pattern] of Object.entries(answer.capture ?? {})) {
    const found = pattern.exec(text);
    if (found) captured.set(name, found[1] ?? found[0]);
    else if (mustMatch) {
      throw diverged(
        file,
        `at ${place}: nothing to capture as ${name}\n--- expected ---\n${pattern}\n--- what came back ---\n${text.slice(0, 2_000).toWellFormed()}`,
      );
    }
  }
}

function diverged(file: string, what: string): ModelError {
  return new ModelError(
    'model.divergence',
    `The run differs from the script ${file}: ${what}`,
    'Correct the script or the program.',
  );
}
