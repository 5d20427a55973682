import type { CapturedOutput, ExecResult, GuestSession } from '@vitto/contracts';
import { toPlainText } from './terminal-text.ts';

const LIMITS: Record<NonNullable<ExecResult['limit']>, string> = {
  memory: 'It was ended since it took more memory than allowed',
  cpu: 'It was ended since it used up its processor time',
  output: 'It was ended since it printed more than is taken',
  disk: 'It was ended since the disk space of the task is used up',
  processes: 'It was ended since it ran as many processes as are allowed, and went on starting more',
};

/** Numbers of the process sandbox, for the model to plan with. */
const SANDBOX_LIMITS: Record<NonNullable<ExecResult['limit']>, string> = {
  memory: ' (256 MiB for the command and all it starts)',
  cpu: ' (30 s for the command and all it starts)',
  output: ' (64 MiB)',
  disk: ' (1 GiB)',
  processes: ' (512 processes and threads for the command and all it starts)',
};

type Ended = Pick<ExecResult, 'limit' | 'timedOut' | 'signal' | 'exitCode' | 'leftoversKilled'>;

/** How a command ended, in one or two sentences. Without its duration: the same result must read the same. */
export function describeEnd(result: Ended, kind: GuestSession['kind']): string {
  const sentences: string[] = [];
  if (result.limit !== null) {
    sentences.push(
      LIMITS[result.limit] + (kind === 'process-sandbox' ? SANDBOX_LIMITS[result.limit] : '') + '.',
    );
  } else if (result.timedOut) sentences.push(`It was ended at its time limit; what it had printed is below.`);
  else if (result.signal !== null) sentences.push(`It was ended by ${result.signal}.`);
  else sentences.push(`Exit code ${result.exitCode}.`);
  if (result.leftoversKilled > 0) {
    const many = result.leftoversKilled === 1 ? 'One process' : `${result.leftoversKilled} processes`;
    sentences.push(
      `${many} that it left running ${result.leftoversKilled === 1 ? 'was' : 'were'} ended; use start_process for what should run on.`,
    );
  }
  return sentences.join(' ');
}

/** The output as readable text; streams that are empty are left out. */
export function describeOutput(result: Pick<ExecResult, 'stdout' | 'stderr'>): string[] {
  const parts = [...describeStream('stdout', result.stdout), ...describeStream('stderr', result.stderr)];
  return parts.length === 0 ? ['There was no output.'] : parts;
}

function describeStream(name: string, output: CapturedOutput): string[] {
  if (output.totalBytes === 0) return [];
  const notes = [
    ...(output.missingBytes > 0
      ? [`${output.totalBytes} bytes, ${output.missingBytes} of them not shown`]
      : []),
    ...(output.replaced ? ['not all of it UTF-8'] : []),
  ];
  const heading = notes.length === 0 ? `--- ${name} ---` : `--- ${name} (${notes.join('; ')}) ---`;
  return [heading, toPlainText(output.text).replace(/\n$/, '')];
}
