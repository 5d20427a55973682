import { CommanderError } from 'commander';
import { CliError, EXIT } from './cli-error.ts';
import { Output } from './output.ts';
import { createProgram } from './program.ts';

// A reader that has seen enough (`vitto tasks | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed),
);

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = tellFailure(error);
}

function tellFailure(error: unknown): number {
  // Commander has told usage errors already; help and version come here with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const json = process.argv.includes('--json');
  const output = new Output(process.stdout, process.stderr, {
    json,
    verbose: false,
    color: !process.env['NO_COLOR'],
  });
  if (error instanceof CliError) {
    output.error({ code: error.code, message: error.message, hint: error.hint });
    return error.exitCode;
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  output.error({
    code: 'internal',
    message: `vitto has a fault: ${message}`,
    hint: 'Please report it with the command you gave.',
  });
  return EXIT.failed;
}
