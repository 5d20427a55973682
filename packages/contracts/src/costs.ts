import { z } from 'zod';

/** What was spent, read from the journal. Money in US dollars; `null` where a price is not known. */

const day = z.iso.date();

export const costsQuery = z.object({
  /** First and last day, both included, in the user's time zone; up to today without a last one. At most 366 days. */
  from: day.optional(),
  to: day.optional(),
  /** Without a first day: so many days up to the last one. */
  days: z.coerce.number().int().min(1).max(366).default(30),
});

const amount = z.object({
  turns: z.number().int(),
  inputTokens: z.number().int(),
  cachedInputTokens: z.number().int(),
  outputTokens: z.number().int(),
  /** Of the turns whose price is known. */
  costUsd: z.number(),
  /** Turns whose price is not known: they are not in `costUsd`. */
  unpricedTurns: z.number().int(),
});
export type CostAmount = z.infer<typeof amount>;

export const costs = z.object({
  from: day,
  to: day,
  timeZone: z.string(),
  total: amount,
  /** One entry for each day and model that has any turn. */
  days: z.array(amount.extend({ day, model: z.string() })),
  models: z.array(amount.extend({ model: z.string() })),
  /** The dearest tasks of these days, at most 50, by what each of them spent itself. */
  tasks: z.array(
    z.object({
      taskId: z.uuid(),
      conversationId: z.uuid().nullable(),
      title: z.string(),
      kind: z.string(),
      /** Of a sub-Vitto: what it was for, and the task that it worked for. */
      role: z.string().nullable(),
      parentTaskId: z.uuid().nullable(),
      rootTaskId: z.uuid(),
      createdAt: z.iso.datetime({ offset: true }),
      tokens: z.number().int(),
      costUsd: z.number().nullable(),
    }),
  ),
  /** The sub-Vittos that began on these days, by role (`null`: without one), by what each spent itself. */
  subVittos: z.array(
    z.object({
      role: z.string().nullable(),
      runs: z.number().int(),
      /** Of those that have ended. */
      succeeded: z.number().int(),
      failed: z.number().int(),
      tokens: z.number().int(),
      costUsd: z.number().nullable(),
    }),
  ),
  today: z.object({
    costUsd: z.number(),
    reservedUsd: z.number(),
    /** The smaller of the installation's and the user's cap on a day. */
    limitUsd: z.number().nullable(),
  }),
  /** What this calendar month comes to if it goes on as the last 14 days; `null` with fewer than 3 days of use. */
  forecast: z
    .object({
      monthUsd: z.number(),
      spentThisMonthUsd: z.number(),
      perDayUsd: z.number(),
      basedOnDays: z.number().int(),
    })
    .nullable(),
});
export type Costs = z.infer<typeof costs>;
