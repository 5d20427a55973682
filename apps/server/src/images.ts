import { join, resolve } from 'node:path';
import { getuid } from 'node:process';
import { readConfig, type Config } from './app/config.ts';
import { AppError, describeError } from './kernel/app-error.ts';
import { chooseDataRoot } from './kernel/database/local-postgres.ts';
import { BaseSnapshots, ImageService, listUsedImages, QemuProvider } from './sandbox/index.ts';

/**
 * Builds and moves the images of this machine, without a running server: `images.ts build NAME | ls | rm NAME |
 * export NAME FILE | import FILE`. Tells what happens in lines of JSON on stdout: `{ progress }`, `{ line }`, and last
 * `{ result }` or `{ error }`. Ends what it does on SIGINT, SIGTERM and the end of its stdin.
 */
type Actions = Record<
  string,
  (service: ImageService, args: string[], signal: AbortSignal) => Promise<unknown>
>;

const ACTIONS: Actions = {
  build: async (service, [name = ''], signal) => {
    await service.build(name, (progress) => tell({ progress }), signal);
    return pick(service, name);
  },
  ls: (service) => service.list(),
  rm: (service, [name = '']) => service.remove(name),
  export: (service, [name = '', file = ''], signal) => service.export(name, resolve(file), signal),
  import: async (service, [file = ''], signal) => {
    const { name } = await service.import(resolve(file), signal);
    return pick(service, name);
  },
};

async function pick(service: ImageService, name: string): Promise<unknown> {
  return (await service.list()).find((image) => image.name === name);
}

function openService(config: Config): ImageService {
  const uid = getuid?.() ?? -1;
  const root = join(chooseDataRoot({ home: config.home, uid }), 'vm');
  const { imagesFolder: folder, memoryMib, cpus, diskGib } = config.sandbox;
  const provider = new QemuProvider({ root });
  return new ImageService({
    folder,
    isRoot: uid === 0,
    environment: config.buildEnvironment,
    baseSnapshots: new BaseSnapshots({ provider, vmFolder: root, sizes: { memoryMib, cpus, diskGib } }),
    listUsed: () => listUsedImages(folder, (machine) => provider.imageHashOf(machine)),
    onLine: (line) => tell({ line }),
  });
}

function tell(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function endsWithCaller(): AbortSignal {
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => abort.abort());
  process.stdin.on('close', () => abort.abort()).resume();
  return abort.signal;
}

async function main([action = '', ...args]: string[]): Promise<void> {
  try {
    const run = ACTIONS[action];
    if (run === undefined) throw new AppError('image.unknown-action', `There is no action "${action}".`);
    const service = openService(readConfig(process.env));
    tell({ result: await run(service, args, endsWithCaller()) });
  } catch (error) {
    const known = error instanceof AppError ? error : null;
    const { code = 'internal', hint } = (known ?? error) as { code?: string; hint?: string };
    tell({ error: { code, message: describeError(error), hint } });
    process.exitCode = 1;
  }
  // What was told is written first; nothing else of this process has anything left to do.
  process.stdout.write('', () => process.exit());
}

await main(process.argv.slice(2));
