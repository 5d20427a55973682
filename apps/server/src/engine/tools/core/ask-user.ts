import { z } from 'zod';
import { defineTool } from '../tool.ts';

/** `ask_user`: parks the task until the user answers; the answer is the call's result. */
export const askUser = defineTool({
  name: 'ask_user',
  description:
    'Ask the user one question and wait for the answer. Use it only when you cannot go on without a decision or a fact that only the user has. Offer choices when there are few.',
  input: z.object({
    question: z.string().min(1).max(4_000).describe('One question, complete in itself.'),
    choices: z
      .array(z.string().min(1).max(200))
      .max(8)
      .optional()
      .describe('Answers to choose from; the user may also write freely.'),
  }),
  domain: 'system',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 10_000,
  run: (input, context) =>
    Promise.resolve({
      status: 'park',
      waitingFor: {
        kind: 'input',
        callId: context.callId,
        question: input.question,
        ...(input.choices === undefined ? {} : { choices: input.choices }),
      },
    }),
  resume: (waitingFor, since) => {
    const answer = since.find(
      (event) =>
        event.type === 'user.message' &&
        waitingFor.kind === 'input' &&
        event.payload.answers === waitingFor.callId,
    );
    if (answer?.type !== 'user.message') return null;
    return {
      status: 'ok',
      text: `The user answered: ${answer.payload.text}`,
      // Whoever deployed it has answered, and has read text from outside.
      ...(answer.payload.tainted === true ? { untrusted: 'the task that deployed this one' } : {}),
      data: { answer: answer.payload.text },
    };
  },
});
