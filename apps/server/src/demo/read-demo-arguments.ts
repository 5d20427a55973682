import { parseArgs } from 'node:util';
import { isAbsolute, resolve } from 'node:path';
import { AppError } from '../kernel/app-error.ts';
import { DEMO_SCRIPT } from './prepare-demo.ts';

export interface DemoArguments {
  /** Prints the demo and its report and ends, in place of showing it in the web app. */
  isHeadless: boolean;
  mayOpen: boolean;
  /** Where the web app listens; 0: any free port. */
  port: number;
  /** What the scripted model plays. */
  script: string;
}

/** @throws AppError `arguments.invalid` naming the flag that is not known or takes something else. */
export function readDemoArguments(args: string[]): DemoArguments {
  const values = parse(args);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalid(`--port takes a number up to 65535, not ${values.port}.`);
  if (values.script !== undefined && !values.headless) throw invalid('--script goes with --headless only.');
  const script = values.script ?? DEMO_SCRIPT;
  return {
    isHeadless: values.headless,
    mayOpen: !values['no-open'],
    port,
    script: isAbsolute(script) ? script : resolve(script),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        headless: { type: 'boolean', default: false },
        'no-open': { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
        script: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

function invalid(message: string): AppError {
  return new AppError('arguments.invalid', message, {
    hint: 'There are --headless, --script FILE (with it), --port and --no-open.',
  });
}
