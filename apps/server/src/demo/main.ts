import { readConfig } from '../app/config.ts';
import { startVitto, type Vitto } from '../app/start-vitto.ts';
import { AppError } from '../kernel/app-error.ts';
import { demoConfig } from './demo-config.ts';
import { readDemoArguments, type DemoArguments } from './read-demo-arguments.ts';
import { runHeadless } from './run-headless.ts';
import { showDemo } from './show-demo.ts';
import { noSandbox } from './start-demo.ts';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const write = (line: string) => void process.stdout.write(`${line}\n`);

// `npm run demo`: the main job, played by the scripted model on a real public project.
async function main(): Promise<number> {
  const args = readDemoArguments(process.argv.slice(2));
  const config = demoConfig(readConfig(process.env), args.port);
  const signal = stopOnSignals();
  write("Vitto's demo. Scripted model: the words are written beforehand, every command is real.");
  const vitto = await startVitto(config, write);
  try {
    const { available, reason, hint } = await vitto.installation.sandbox.probe();
    if (!available) throw noSandbox(reason, hint);
    return await play(vitto, args, signal);
  } catch (error) {
    if (signal.aborted) return signal.reason as number;
    throw error;
  } finally {
    await vitto.stop();
  }
}

async function play(vitto: Vitto, args: DemoArguments, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  if (args.isHeadless) return (await runHeadless(vitto, { script: args.script, signal, write })) ? 0 : 1;
  await showDemo(vitto, { mayOpen: args.mayOpen, environment: process.env, signal, write });
  return signal.reason as number;
}

/** The first signal stops in order, the second at once. The reason of the abort is the exit code. */
function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  const stop = (name: keyof typeof EXIT_CODES) => {
    if (controller.signal.aborted) process.exit(EXIT_CODES[name]);
    process.stderr.write('The demo is stopping. (Again to stop at once.)\n');
    controller.abort(EXIT_CODES[name]);
  };
  // Whoever read along has gone (`… | head`): the rest would be played to nobody.
  process.stdout.on('error', () => controller.abort(1));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGTERM', () => stop('SIGTERM'));
  return controller.signal;
}

function explain(error: unknown): number {
  if (error instanceof AppError) {
    process.stderr.write(`${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return 2;
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`The demo failed: ${what}\n`);
  return 1;
}

process.exit(await main().catch(explain));
