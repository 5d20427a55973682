import type { Budget } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';

type Override = { [K in keyof Budget]?: Budget[K] | undefined };

/**
 * A task's budget: the request's numbers, else the user's, else the installation's.
 * @throws AppError `budget.above-limit` when one asks for more than the installation allows.
 */
export function chooseBudget(installation: Budget, user: Override, request: Override): Budget {
  const budget = { ...installation };
  for (const key of Object.keys(installation) as (keyof Budget)[]) {
    const wanted = request[key] ?? user[key];
    if (wanted === undefined || wanted === null) continue;
    const limit = installation[key];
    if (limit !== null && wanted > limit) {
      throw new AppError(
        'budget.above-limit',
        `The budget asks for ${key} ${wanted}; this installation allows ${limit}.`,
        {
          status: 422,
          hint: `Ask for at most ${limit}, or raise the installation's limit (VITTO_TASK_…).`,
          errors: [{ path: `budget.${key}`, message: `at most ${limit}` }],
        },
      );
    }
    Object.assign(budget, { [key]: wanted });
  }
  return budget;
}
