import { z } from 'zod';
import { defineTool } from '../tool.ts';

/** `whistle_user`: a short notice to the owner while the task goes on. It is shown wherever the user is signed in. */
export const whistleUser = defineTool({
  name: 'whistle_user',
  description:
    'Notify the user at once with a short message while you go on working, for something they want to know now (a surprise, a risk, a milestone). Not for the final report and not for questions.',
  input: z.object({
    message: z.string().min(1).max(500),
    severity: z.enum(['info', 'warning']).default('info'),
  }),
  domain: 'messaging',
  risk: 'write',
  tier: 'in-process',
  idempotency: 'idempotent',
  isParallelSafe: true,
  timeoutMs: 5_000,
  run: (input) =>
    Promise.resolve({
      status: 'ok',
      text: 'The user has been notified.',
      data: { message: input.message, severity: input.severity },
    }),
});
