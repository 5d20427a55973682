import { parseArgs } from 'node:util';

/** Every bench takes `--quick` (a smoke run: the figures mean nothing) and `--json`; the rest are its own numbers. */
export interface BenchOptions<Name extends string> {
  isQuick: boolean;
  isJson: boolean;
  /** Whole numbers: what was given on the command line, else the default for a quick or a full run. */
  numbers: Record<Name, number>;
}

/** Reads the command line. Ends the process with a usage line when it is wrong, or asked for by `--help`. */
export function readBenchOptions<Name extends string>(
  bench: string,
  numbers: Record<Name, { full: number; quick: number }>,
): BenchOptions<Name> {
  const names = Object.keys(numbers) as Name[];
  const usage = `usage: ${bench} [--quick] [--json] ${names.map((name) => `[--${name} ${numbers[name].full}]`).join(' ')}\n`;
  const parsed = parse(names);
  if (parsed === null || parsed['help'] === true) {
    process.stderr.write(usage);
    process.exit(parsed === null ? 2 : 0);
  }
  const isQuick = parsed['quick'] === true;
  const read = (name: Name): number => {
    const given = parsed[name];
    if (typeof given !== 'string') return numbers[name][isQuick ? 'quick' : 'full'];
    const value = Number(given);
    if (Number.isInteger(value) && value > 0) return value;
    process.stderr.write(`--${name} takes a whole number above 0, not "${given}"\n${usage}`);
    process.exit(2);
  };
  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, number>;
  return { isQuick, isJson: parsed['json'] === true, numbers: values };
}

function parse(names: string[]): Record<string, unknown> | null {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      },
    }).values;
  } catch {
    return null;
  }
}
