import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chooseDataRoot } from '../../kernel/database/local-postgres.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));
const FAKE_HOST = fileURLToPath(new URL('./fake-host-main.ts', import.meta.url));

/** A real Vitto process of a test. */
export interface VittoProcess {
  child: ChildProcess;
  /** `null` for a worker. */
  url: string | null;
  output: () => string;
  /** Ends it with a signal and waits until it has exited; gives its exit code. */
  end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** Starts the real program as a process of its own and waits until it says that it is ready. */
export function startVittoProcess(environment: Record<string, string>): Promise<VittoProcess> {
  return startProcess([MAIN, '--no-open'], environment);
}

/** Starts a sandbox host whose VMs start in no time and are gone with it. */
export function startFakeHost(environment: Record<string, string>): Promise<VittoProcess> {
  return startProcess([FAKE_HOST], environment);
}

async function startProcess(program: string[], environment: Record<string, string>): Promise<VittoProcess> {
  const child = spawn(process.execPath, program, {
    env: {
      PATH: process.env['PATH'] ?? '',
      VITTO_PORT: '0',
      VITTO_LOG_LEVEL: 'warn',
      // Tests that are not about VMs run their commands in the process sandbox, unasked.
      VITTO_VM_PROVIDER: 'none',
      VITTO_VM_DEGRADE: 'allow',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Vitto is ready')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then((code) => reject(new Error(`Vitto ended with ${code} before it was ready:\n${output}`)));
  });
  await ready;
  return {
    child,
    url: /ready: (http:\S+)/.exec(output)?.[1] ?? null,
    output: () => output,
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

/** A client of a server process with the token of its home. */
export async function openClient(url: string, home: string) {
  return createClient(url, (await readFile(join(home, 'cli-token'), 'utf8')).trim());
}

/** A client of a server process for whoever has this token. */
export function createClient(url: string, token: string) {
  const call = async <T>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: T }> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  };
  return { token, call };
}

/** Removes a test's folder, and what a Vitto of root with its home in `home` keeps where other system users can reach it. */
export async function removeTestFolder(folder: string, home: string): Promise<void> {
  const dataRoot = chooseDataRoot({ home, uid: getuid?.() ?? -1 });
  if (dataRoot !== home) await rm(dataRoot, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}
