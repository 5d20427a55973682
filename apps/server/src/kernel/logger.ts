import { pino, type Logger } from 'pino';
import { maskSecrets } from './text/mask-secrets.ts';

export type { Logger };

/** Structured logs (JSON lines on stderr), with secrets masked in every string that is written. */
export function createLogger(options: { level: string; name?: string }): Logger {
  return pino(
    { level: options.level, ...(options.name === undefined ? {} : { name: options.name }) },
    { write: (line: string) => void process.stderr.write(maskSecrets(line)) },
  );
}

/** A logger that says nothing, for tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
