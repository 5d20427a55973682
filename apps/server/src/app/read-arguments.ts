import { parseArgs } from 'node:util';
import { AppError } from '../kernel/app-error.ts';

/** Flags of the program, as the variables they stand for. */
const FLAGS = {
  port: 'VITTO_PORT',
  host: 'VITTO_HOST',
  home: 'VITTO_HOME',
  roles: 'VITTO_ROLES',
  model: 'VITTO_MODEL',
} as const;

export interface Arguments {
  /** Variables that the flags set; they win over the environment. */
  variables: Record<string, string>;
  mayOpen: boolean;
}

/** @throws AppError `arguments.invalid` naming the flag that is not known. */
export function readArguments(args: string[]): Arguments {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        home: { type: 'string' },
        roles: { type: 'string' },
        model: { type: 'string' },
        'no-open': { type: 'boolean', default: false },
      },
    });
    const set = Object.entries(FLAGS).filter(([flag]) => values[flag as keyof typeof FLAGS] !== undefined);
    const variables = Object.fromEntries(
      set.map(([flag, name]) => [name, values[flag as keyof typeof FLAGS] ?? '']),
    );
    return { variables, mayOpen: !values['no-open'] };
  } catch (error) {
    throw new AppError('arguments.invalid', (error as Error).message, {
      hint: `There are --port, --host, --home, --roles, --model and --no-open.`,
    });
  }
}
