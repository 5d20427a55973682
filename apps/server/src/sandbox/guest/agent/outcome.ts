import type { CommandRecord, ExecResult } from '@vitto/contracts';
import { signalName } from '../signal-names.ts';
import { ProtocolError } from './frame-codec.ts';
import type { PayloadReader } from './payload.ts';

/** How a command ended, as the guest says. */
export interface Outcome {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  limit: Extract<ExecResult['limit'], 'memory' | 'processes'> | null;
  leftoversKilled: number;
  stdoutBytes: number;
  stderrBytes: number;
  durationMs: number;
}

const LIMITS = [null, 'memory', 'processes'] as const;

/** @throws ProtocolError */
export function readOutcome(reader: PayloadReader): Outcome {
  const exitCode = reader.i32();
  const signal = reader.u32();
  const timedOut = reader.u8() !== 0;
  return {
    exitCode: signal !== 0 || exitCode < 0 ? null : exitCode,
    signal: signal === 0 ? null : signalName(signal),
    timedOut,
    limit: LIMITS[reader.u8()] ?? null,
    leftoversKilled: reader.u32(),
    stdoutBytes: reader.u64(),
    stderrBytes: reader.u64(),
    durationMs: reader.u32(),
  };
}

const STATES = ['unknown', 'running', 'ended', 'cut-short'] as const;

export interface RecordState {
  state: CommandRecord['state'];
  outcome: Outcome;
}

/** @throws ProtocolError */
export function readRecordState(reader: PayloadReader): RecordState {
  const state = STATES[reader.u8()];
  if (state === undefined) throw new ProtocolError('a record is in no known state');
  return { state, outcome: readOutcome(reader) };
}
