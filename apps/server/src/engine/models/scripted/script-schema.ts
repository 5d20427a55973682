import { z } from 'zod';

/**
 * A script for the scripted model (`script:FILE.yaml`); README.md beside this file shows it. Every pattern is a regular expression,
 * written plainly or as `/…/flags`.
 */
const pattern = z
  .string()
  .min(1)
  .transform((text, context) => {
    const parts = /^\/(.+)\/([dgimsuy]*)$/su.exec(text);
    try {
      return parts
        ? new RegExp(parts[1] ?? '', (parts[2] ?? '').replace(/[gy]/gu, ''))
        : new RegExp(text, 'u');
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });
const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item.transform((one) => [one]), z.array(item)]);

/** What must be true of what came back since the turn before. All that is given must hold. */
const expectation = z.strictObject({
  /** Looks only at the result of this tool; absent: at all results of the last step together. */
  tool: z.string().optional(),
  /** Looks at the n-th result of the last step, from 1. */
  result: z.number().int().positive().optional(),
  contains: oneOrMore(z.string()).optional(),
  lacks: oneOrMore(z.string()).optional(),
  matches: pattern.optional(),
  /** The exit code that the result tells. */
  exitCode: z.number().int().optional(),
  /** True: the result is an error. */
  isError: z.boolean().optional(),
  /** A user message that came since. */
  user: pattern.optional(),
  system: pattern.optional(),
  /** Tools that the request must offer. */
  offers: oneOrMore(z.string()).optional(),
});
export type Expectation = z.output<typeof expectation>;

const call = z
  .strictObject({
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** The argument text as it is, to try malformed ones. */
    rawArguments: z.string().optional(),
    id: z.string().optional(),
  })
  .refine((one) => one.arguments === undefined || one.rawArguments === undefined, {
    message: 'give either arguments or rawArguments',
  });

/** What goes wrong before a turn is answered: the n-th try of the turn meets the n-th fault, then it succeeds. */
const fault = z.union([
  z.strictObject({
    status: z.number().int().min(400).max(599),
    headers: z.record(z.string(), z.string()).optional(),
    message: z.string().optional(),
  }),
  z.strictObject({
    /** `network`: no connection. `stall`: silence for ever. `cut`: the connection breaks. `no-finish`: it ends early. */
    kind: z.enum(['network', 'stall', 'cut', 'no-finish']),
    /** UTF-16 units of text that still come. */
    after: z.number().int().nonnegative().default(0),
  }),
]);
export type Fault = z.output<typeof fault>;

const usageNumbers = z.strictObject({
  input: z.number().int().nonnegative(),
  cachedInput: z.number().int().nonnegative().default(0),
  cacheWrite: z.number().int().nonnegative().default(0),
  output: z.number().int().nonnegative(),
  reasoning: z.number().int().nonnegative().default(0),
});

const answer = {
  expect: oneOrMore(expectation).optional(),
  /** Named values for `{{name}}` later on: the first group of the pattern (or all of it) in what came back. */
  capture: z.record(z.string().regex(/^[A-Za-z_]\w*$/u), pattern).optional(),
  reasoning: z.string().optional(),
  text: z.string().optional(),
  calls: z.array(call).optional(),
  finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter']).optional(),
  usage: usageNumbers.optional(),
  /** Milliseconds before anything comes. */
  delayMs: z.number().nonnegative().optional(),
  /** Text comes in pieces of `size` UTF-16 units, `everyMs` apart. */
  stream: z
    .strictObject({ size: z.number().int().positive(), everyMs: z.number().nonnegative().default(0) })
    .optional(),
  faults: z.array(fault).optional(),
};

export type Answer = z.output<z.ZodObject<typeof answer>>;

/** A turn is an answer, or a fork: the first branch whose `if` holds goes on; none holds: the script fails. */
export type Turn = Answer | { when: Branch[] };
export interface Branch {
  if?: Expectation[] | undefined;
  turns: Turn[];
}

const branch: z.ZodType<Branch> = z.lazy(() =>
  z.strictObject({ if: oneOrMore(expectation).optional(), turns: z.array(turn) }),
);
const turn: z.ZodType<Turn> = z.lazy(() =>
  z.unknown().transform((value, context): Turn => {
    const isFork = typeof value === 'object' && value !== null && 'when' in value;
    const schema = isFork ? z.strictObject({ when: z.array(branch).min(1) }) : z.strictObject(answer);
    const parsed = (schema as z.ZodType<Turn>).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.addIssue({ ...issue, code: 'custom', input: value });
    return z.NEVER;
  }),
);

const conversation = z.strictObject({
  /** Taken when a user message matches; the last one that does counts, and turns are counted from it. */
  on: pattern.optional(),
  /** Taken only when the system prompt matches: tells sub-Vittos' roles apart. */
  system: pattern.optional(),
  turns: z.array(turn).min(1),
});
export type Conversation = z.output<typeof conversation>;

const price = z.number().nonnegative();

export const scriptSchema = z
  .strictObject({
    name: z.string().optional(),
    /** US dollars a million tokens; absent: free. */
    prices: z.strictObject({ input: price, cachedInput: price, cacheWrite: price, output: price }).optional(),
    contextWindow: z.number().int().positive().optional(),
    maxOutputTokens: z.number().int().positive().optional(),
    /** Short for one conversation without conditions. */
    turns: z.array(turn).min(1).optional(),
    conversations: z.array(conversation).min(1).optional(),
  })
  .refine((script) => (script.turns === undefined) !== (script.conversations === undefined), {
    message: 'give either turns or conversations',
  });
export type Script = z.output<typeof scriptSchema>;
