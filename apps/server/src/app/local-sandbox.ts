import { hostname } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { readSettings } from '../identity/index.ts';
import { AppError, describeError } from '../kernel/app-error.ts';
import { systemClock } from '../kernel/clock.ts';
import { makePassable } from '../kernel/database/local-postgres-owner.ts';
import type { Logger } from '../kernel/logger.ts';
import {
  BaseSnapshots,
  findMissingForBuild,
  holdFileLock,
  ImageService,
  listUsedImages,
  LocalSandboxHost,
  NoneProvider,
  QemuProvider,
  registerMachines,
  type SandboxHost,
  type SandboxProvider,
} from '../sandbox/index.ts';
import type { Config } from './config.ts';
import type { Installation } from './open-installation.ts';
import { FIRST_IMAGE, prepareImages } from './prepare-images.ts';

/** A process that is ending keeps its VMs until they are suspended; a killed one lets go at once. */
const HANDOVER_MS = 5_000;

export interface LocalSandbox {
  host: SandboxHost;
  /** Ends image builds and suspends all VMs, within a minute or so. */
  stop: () => Promise<void>;
}

/**
 * The sandbox host that this process is: takes over what an earlier process of this home left, and begins to build the
 * images that are missing. `tell`: see `prepareImages`. @throws AppError `sandbox.host-runs`; `image.folder` when images cannot be kept.
 */
export async function openLocalSandbox(
  config: Config,
  installation: Installation,
  tell: (line: string) => void,
): Promise<LocalSandbox> {
  const folder = join(installation.dataRoot, 'vm');
  const release = config.sandbox.provider === 'none' ? null : await becomeHost(folder, config.home);
  try {
    const { host, stop } = await startHost(config, installation, folder, tell);
    return { host, stop: () => stop().finally(() => release?.()) };
  } catch (error) {
    await release?.();
    throw error;
  }
}

async function startHost(
  config: Config,
  { logger, database }: Installation,
  folder: string,
  tell: (line: string) => void,
): Promise<LocalSandbox> {
  await register(config.sandbox.imagesFolder, join(folder, 'machines'));
  const { provider, images } = createProvider(config, logger, folder);
  const { reuseActive, lingerMs, snapshotOnRelease, maxLifetimeMs, hardLifetimeMs } = config.sandbox;
  const { memoryMib, cpus, diskGib } = config.sandbox;
  const host = new LocalSandboxHost({
    folder,
    name: hostname(),
    url: null,
    database,
    provider,
    images,
    clock: systemClock,
    logger,
    policy: { reuseActive, lingerMs, snapshotOnRelease, maxLifetimeMs, hardLifetimeMs },
    maxConcurrent: config.sandbox.maxConcurrent,
    snapshotMaxAgeDays: config.sandbox.snapshotMaxAgeDays,
    usualTemplate: config.sandbox.developerTemplate,
    sizesOf: () => Promise.resolve({ memoryMib, cpus, diskGib }),
    policyOf: async (userId) => (await readSettings(database, userId)).network,
    onClaimEnded: (end) => logger.info(end, 'a task no longer holds its VM'),
  });
  await host.start();
  const { developerTemplate } = config.sandbox;
  const findMissing = () => findMissingForBuild(getuid?.() === 0);
  const preparing = prepareImages({ provider, images, findMissing, developerTemplate, tell });
  return {
    host,
    stop: async () => {
      await images.stop();
      await preparing;
      await host.stop();
    },
  };
}

/**
 * One process speaks for the machines of a home: a second one would take them away from the first and then end.
 * @throws AppError `sandbox.host-runs`
 */
async function becomeHost(folder: string, home: string): Promise<() => Promise<void>> {
  makePassable(folder);
  const release = await holdFileLock(join(folder, 'host.lock'), HANDOVER_MS);
  if (release !== null) return release;
  throw new AppError('sandbox.host-runs', `Vitto runs already in ${home}: its VMs belong to that process.`, {
    status: 409,
    hint: '`npm run vitto -- sign-in` prints a link to it. More processes on its database: VITTO_ROLES=worker or VITTO_ROLES=server; another installation: VITTO_HOME.',
  });
}

/** What makes VMs here, and the images that they are made from. `root`: the folder of VMs and machines. */
export function createProvider(config: Config, logger: Logger, root: string) {
  const { imagesFolder, developerTemplate, memoryMib, cpus, diskGib } = config.sandbox;
  const hasVms = config.sandbox.provider === 'qemu';
  // KVM is tried with whatever image is there.
  const findImage = async () => (await images.find(FIRST_IMAGE)) ?? images.find(developerTemplate);
  const provider: SandboxProvider = hasVms
    ? new QemuProvider({ root, findImage, logger })
    : new NoneProvider();
  const sizes = { memoryMib, cpus, diskGib };
  const images = new ImageService({
    folder: imagesFolder,
    isRoot: getuid?.() === 0,
    environment: config.buildEnvironment,
    baseSnapshots: hasVms ? new BaseSnapshots({ provider, vmFolder: root, sizes }) : null,
    listUsed: () => listUsedImages(imagesFolder, (machine) => provider.imageHashOf(machine)),
    onLine: (line) => logger.debug({ line }, 'building an image'),
  });
  return { provider, images };
}

async function register(images: string, machines: string): Promise<void> {
  try {
    await registerMachines(images, machines);
  } catch (error) {
    throw new AppError('image.folder', `Images cannot be kept in ${images}: ${describeError(error)}.`, {
      hint: 'Give VITTO_IMAGES a folder that this user may write to.',
      cause: error,
    });
  }
}
