import { z } from 'zod';
import { pageQuery } from './paging.ts';
import { actionDomain, complexity, taskKind, tier } from './words.ts';

/** Sub-Vittos: tasks that another task deployed (specification 03), and what became of tasks. */

/** What a sub-Vitto is for: which tools it has, and how it works. */
export const SUB_VITTO_ROLES = ['researcher', 'coder', 'reviewer', 'tester', 'writer', 'operator'] as const;
export const subVittoRole = z.enum(SUB_VITTO_ROLES);
export type SubVittoRole = z.infer<typeof subVittoRole>;

/** Sub-Vittos of one call of `deploy_agents`, at most. */
export const MAX_SUB_VITTOS = 100;

const subTask = z.strictObject({
  description: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe(
      'The whole task: it sees nothing of this conversation. Say what is wanted, where things are, and what to report.',
    ),
  tier: tier
    .optional()
    .describe(
      'Where it works: `vm` for commands and files, else `in-process`. Without it: by what it needs.',
    ),
  role: subVittoRole
    .optional()
    .describe('Gives it the tools and the manner of this role; without it all tools of its tier.'),
  expert: z.string().min(1).max(100).optional().describe('Reserved; leave it out.'),
  tools: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(50)
    .optional()
    .describe('Only these tools (and those that every task has).'),
  complexity: complexity.optional().describe('How hard it is; without it estimated.'),
  check: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .optional()
    .describe(
      'An acceptance check: a shell command that is run in its machine when it reports success. Only exit code 0 lets it end so. Needs the tier `vm`.',
    ),
  dependsOn: z
    .array(z.number().int().nonnegative())
    .max(MAX_SUB_VITTOS)
    .optional()
    .describe(
      'Indices, from 0, of the tasks of this list whose results it needs: it starts when they have ended.',
    ),
});
export type SubTask = z.infer<typeof subTask>;

/** The input of `deploy_agents`. */
export const deployAgents = z.strictObject({
  tasks: z.array(subTask).min(1, 'name at least one task').max(MAX_SUB_VITTOS),
  synthesis: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe('What you will make of the results, as a note to yourself; the user sees it.'),
});
export type DeployAgents = z.infer<typeof deployAgents>;

/** A tool that a sub-Vitto was not given, and why. */
export const withheldTool = z.object({ tool: z.string(), reason: z.string() });
export type WithheldTool = z.infer<typeof withheldTool>;

/** Who says whether a task succeeded; a later word of a stronger source stands: the user's over a check over its own. */
export const VERDICT_SOURCES = ['self', 'check', 'user'] as const;
export const verdictSource = z.enum(VERDICT_SOURCES);
export type VerdictSource = z.infer<typeof verdictSource>;

/** What became of a task that has ended: one for each, whatever is reported twice. */
export const outcome = z.object({
  taskId: z.uuid(),
  parentTaskId: z.uuid().nullable(),
  rootTaskId: z.uuid(),
  /** Empty once its conversation is deleted. */
  title: z.string(),
  /** What started it. */
  source: taskKind,
  role: z.string().nullable(),
  expert: z.string().nullable(),
  tier: tier.nullable(),
  complexity,
  /** Of the riskiest tool it used. */
  domain: actionDomain,
  toolsUsed: z.array(z.string()),
  end: z.enum(['completed', 'failed', 'cancelled']),
  success: z.boolean(),
  verdictSource,
  /** The first model that served it. */
  model: z.string().nullable(),
  iterations: z.number().int(),
  /** Its own and those of its sub-Vittos. */
  tokens: z.number().int(),
  costUsd: z.number().nullable(),
  durationMs: z.number().int(),
  endedAt: z.iso.datetime({ offset: true }),
});
export type Outcome = z.infer<typeof outcome>;

export const outcomeQuery = pageQuery.extend({
  /** That of this task alone; none until it has been reported. */
  taskId: z.uuid().optional(),
  /** Those of the sub-Vittos of this task alone. */
  parentTaskId: z.uuid().optional(),
});

/** The user's own word on a task that has ended. */
export const giveVerdict = z.strictObject({ success: z.boolean() });
