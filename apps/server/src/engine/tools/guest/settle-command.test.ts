import type { CommandRecord } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { runTool } from './guest-tools.testing.ts';
import { recordOf } from './settle-command.ts';
import { createRunCommand } from './run-command.ts';

const nothing = { text: '', totalBytes: 0, missingBytes: 0, replaced: false };
const record = (more: Partial<CommandRecord>): CommandRecord => ({
  state: 'ended',
  exitCode: 0,
  signal: null,
  timedOut: false,
  stdoutBytes: 0,
  stderrBytes: 0,
  durationMs: 7,
  ...more,
});

const runCommand = createRunCommand(300_000);

/** Settles a call of `run_command` by what a VM answers, one record after the other. */
async function settle(...records: CommandRecord[]) {
  const asked: string[] = [];
  const guest = {
    kind: 'vm' as const,
    readCommand: ({ callId }: { callId: string }) => {
      asked.push(callId);
      return Promise.resolve(records.length > 1 ? records.shift() : records[0]);
    },
  };
  const settling = {
    ...runCommand,
    run: (input: never, context: never) => runCommand.settle?.(input, context),
  };
  const { result, progress } = await runTool(settling as never, { command: 'x' }, guest);
  return { result, progress, asked };
}

describe('a command whose caller died', () => {
  it('is told with how it ended and what it printed', async () => {
    const output = { stdout: { ...nothing, text: 'built\n', totalBytes: 6 }, stderr: nothing };
    const { result, asked } = await settle(record({ exitCode: 2, output }));
    expect(result).toMatchObject({ status: 'error', data: { exitCode: 2, durationMs: 7 } });
    expect(result.text).toBe('Exit code 2.\n--- stdout ---\nbuilt');
    expect(asked[0]).toMatch(/^[0-9a-f]{40}$/);
  });

  it('is waited for while it runs', async () => {
    const running = record({ state: 'running', exitCode: null });
    const { result, progress } = await settle(running, running, record({}));
    expect(result).toMatchObject({ status: 'ok', text: 'Exit code 0.\nWhat it printed is not known.' });
    expect(progress).toEqual(['note:The command still runs in the VM; waiting for its end.\n']);
  });

  it('is said to be cut short when the machine ended with it', async () => {
    const { result } = await settle(record({ state: 'cut-short', exitCode: null }));
    expect(result.status).toBe('error');
    expect(result.text).toMatch(/^It was cut short: the machine ended while it ran\./);
  });

  it('stays unknown where the machine has no record of it', async () => {
    expect((await settle(record({ state: 'unknown', exitCode: null }))).result).toBeNull();
  });
});

it('has a record of its own in a machine that tasks share', () => {
  const of = (id: string, callId: string) => recordOf({ task: { id } as never, callId });
  expect(new Set([of('a', 'call_1'), of('b', 'call_1'), of('a', 'call_2')]).size).toBe(3);
});
