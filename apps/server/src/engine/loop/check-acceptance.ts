import { createHash } from 'node:crypto';
import { GuestError, type GuestSession } from '@vitto/contracts';
import canonicalize from 'canonicalize';
import { cutTextEnd } from '../../kernel/text/cut.ts';
import type { Acceptance } from '../tools/tool.ts';
import type { Run } from './run-context.ts';

const PHASE = 'acceptance-check';
/** Milliseconds that a check may take. */
const CHECK_MS = 120_000;
const SHOWN_LENGTH = 2_000;

/**
 * Runs the acceptance check of a task that says it has succeeded, journaled before and after; `null` for a task without
 * one. It is decided on as any command is: what would have to be asked for is not run, and then nothing is shown by it.
 */
export async function checkAcceptance(
  run: Run,
  claimGuest: () => Promise<GuestSession>,
  signal: AbortSignal,
): Promise<Acceptance | null> {
  const command = run.task.acceptanceCheck;
  if (command === null) return null;
  const refusal = whyNotRun(run, command);
  if (refusal !== null) return { kind: 'skipped', reason: refusal };
  await run.journal.append([{ type: 'phase.started', payload: { phase: PHASE, command } }]);
  const began = run.deps.clock.monotonic();
  const acceptance = await runCheck(command, claimGuest, signal);
  const durationMs = Math.round(run.deps.clock.monotonic() - began);
  const exitCode = acceptance.kind === 'skipped' ? null : acceptance.exitCode;
  await run.journal.append([{ type: 'phase.completed', payload: { phase: PHASE, durationMs, exitCode } }]);
  return acceptance;
}

async function runCheck(
  command: string,
  claimGuest: () => Promise<GuestSession>,
  signal: AbortSignal,
): Promise<Acceptance> {
  try {
    const guest = await claimGuest();
    const ended = await guest.exec({ command, timeoutMs: CHECK_MS, signal });
    if (ended.exitCode === 0) return { kind: 'passed', command, exitCode: 0 };
    const how = ended.timedOut
      ? `did not end within ${CHECK_MS / 1000} s`
      : `ended with exit code ${ended.exitCode ?? 'none'}`;
    const output = cutTextEnd(`${ended.stdout.text}${ended.stderr.text}`.trim(), SHOWN_LENGTH);
    return { kind: 'failed', exitCode: ended.exitCode, text: `${command}\n${how}:\n${output}` };
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    if (error.code === 'unavailable') return { kind: 'skipped', reason: 'there is no machine for it' };
    // The machine is there and the check has not passed: it may be what the machine was lost over.
    return {
      kind: 'failed',
      exitCode: null,
      text: `${command}\ncould not be run (${error.code}: ${error.message})`,
    };
  }
}

/** Why the command may not be run without asking; `null` when it may. */
function whyNotRun(run: Run, command: string): string | null {
  if (run.gate === null) throw new Error('a check is decided on before the gate was evaluated');
  const args = { command };
  const decision = run.deps.decide(
    {
      tool: 'run_command',
      domain: 'code_execution',
      risk: 'write',
      tier: 'vm',
      arguments: args,
      argumentsHash: createHash('sha256')
        .update(canonicalize(args) ?? '')
        .digest('hex'),
      grantKey: null,
      isTainted: run.task.isTainted,
      isContained: true,
      taskKind: run.task.kind,
    },
    run.gate,
  );
  return decision.verdict === 'act' ? null : decision.reason;
}
