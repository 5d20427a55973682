import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ProviderError } from '../sandbox-provider.ts';
import { FD } from './command-line.ts';
import { identify, type ProcessIdentity } from './process-identity.ts';

/** How much of what a guest prints to its console is kept. It can print without end. */
const CONSOLE_BYTES = 64 * 1024;

/** A QEMU that this process started. */
export interface QemuProcess {
  identity: ProcessIdentity;
  /** QEMU's monitor. */
  monitor: Duplex;
  /** The end of what guest and QEMU printed. */
  console: () => string;
  /** Called with each line that the guest's init prints as `vitto: …`. */
  onMark: (listener: (mark: string) => void) => void;
  exited: Promise<string>;
  /** From now on this process may end before it does. */
  letGo: () => void;
}

/**
 * Starts a VM's process in a session of its own: it outlives this one and can be taken over. `stateFile`: an open
 * descriptor of the device state that it begins from.
 * @throws ProviderError `start-failed`
 */
export async function startQemu(
  command: string[],
  { cwd, stateFile }: { cwd: string; stateFile?: number },
): Promise<QemuProcess> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: {},
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', stateFile ?? 'ignore'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    // Not `exit`: what it printed is read by then.
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
  });
  const identity = child.pid === undefined ? null : identify(child.pid);
  if (identity === null) throw new ProviderError('start-failed', `QEMU did not start: ${await exited}`);
  const monitor = child.stdio[FD.monitor] as Socket;
  const letGo = (): void => {
    for (const each of [child, child.stdout, child.stderr, monitor]) (each as Socket).unref();
  };
  return { identity, monitor, exited, letGo, ...readConsole(child) };
}

function readConsole(child: ChildProcess): Pick<QemuProcess, 'console' | 'onMark'> {
  let text = '';
  let line = '';
  let mark: (mark: string) => void = () => undefined;
  child.stderr?.setEncoding('latin1').on('data', (chunk: string) => {
    text = (text + chunk).slice(-CONSOLE_BYTES);
  });
  child.stdout?.setEncoding('latin1').on('data', (chunk: string) => {
    text = (text + chunk).slice(-CONSOLE_BYTES);
    const lines = (line + chunk).split('\n');
    line = (lines.pop() ?? '').slice(-1024);
    for (const each of lines) {
      const found = /^vitto: ([\w -]{1,40})/.exec(each)?.[1];
      if (found !== undefined) mark(found.trim());
    }
  });
  return { console: () => text, onMark: (listener) => (mark = listener) };
}
