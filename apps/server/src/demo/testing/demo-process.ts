import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoCacheOf } from '../prepare-demo.ts';

const DEMO = fileURLToPath(new URL('../main.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('../../main.ts', import.meta.url));

/** A home for demos whose data lies in it, also for root. */
export interface DemoHome {
  folder: string;
  /** Where the demo's own Vitto keeps the package. */
  cache: string;
  remove: () => Promise<void>;
}

export async function makeDemoHome(): Promise<DemoHome> {
  const folder = mkdtempSync('/var/tmp/vitto-demo-test-');
  const own = join(demoCacheOf(folder), 'home');
  const cache = demoCacheOf(own);
  mkdirSync(cache, { recursive: true });
  // PostgreSQL's user has to get to the data of a server that runs as root.
  for (let path = own; path.startsWith(folder); path = join(path, '..')) await chmod(path, 0o711);
  return { folder, cache, remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface RunningProcess {
  /** What it has printed so far. */
  output: () => string;
  /** Resolves with the first match in its output; rejects when it ends without one. */
  prints: (pattern: RegExp) => Promise<RegExpExecArray>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<number | null>;
}

export const runDemo = (home: DemoHome, args: string[], env: Record<string, string> = {}): RunningProcess =>
  run(DEMO, args, { VITTO_HOME: home.folder, ...env });
export const runServer = (home: DemoHome): RunningProcess =>
  run(SERVER, ['--no-open', '--port', '0'], { VITTO_HOME: home.folder });

function run(program: string, args: string[], env: Record<string, string>): RunningProcess {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...withoutVitto(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  const hear = (chunk: string) => {
    output += chunk;
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const prints = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output);
        if (found === null) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
      void ended.then((code) =>
        reject(new Error(`it ended with ${code} and did not print ${pattern}:\n${output}`)),
      );
    });
  return { output: () => output, prints, kill: (signal) => child.kill(signal), ended };
}

/** The tests' own environment, without what would configure the Vitto that is started. */
function withoutVitto(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = (name: string) => !/^VITTO_|^DATABASE_URL$|_API_KEY$/.test(name);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => foreign(name)));
}
