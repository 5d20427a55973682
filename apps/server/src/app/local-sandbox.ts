import { hostname } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { readSettings } from '../identity/index.ts';
import { AppError, describeError } from '../kernel/app-error.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import {
  BaseSnapshots,
  findMissingForBuild,
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

/** Small and soon built: a first start makes it by itself, and tasks that need no more get it. */
const FIRST_IMAGE = 'minimal';

export interface LocalSandbox {
  host: SandboxHost;
  /** Ends image builds and suspends all VMs, within a minute or so. */
  stop: () => Promise<void>;
}

/**
 * The sandbox host that this process is: takes over what an earlier process of this home left, and on the first start
 * begins to build an image. @throws AppError `image.folder` when images cannot be kept.
 */
export async function openLocalSandbox(config: Config, installation: Installation): Promise<LocalSandbox> {
  const { logger, database } = installation;
  const folder = join(installation.dataRoot, 'vm');
  await register(config.sandbox.imagesFolder, join(folder, 'machines'));
  const { provider, images } = createProvider(config, logger, folder);
  const { lingerMs, snapshotOnRelease, maxLifetimeMs, hardLifetimeMs } = config.sandbox;
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
    policy: { lingerMs, snapshotOnRelease, maxLifetimeMs, hardLifetimeMs },
    maxConcurrent: config.sandbox.maxConcurrent,
    snapshotMaxAgeDays: config.sandbox.snapshotMaxAgeDays,
    usualTemplate: config.sandbox.developerTemplate,
    sizesOf: () => Promise.resolve({ memoryMib, cpus, diskGib }),
    policyOf: async (userId) => (await readSettings(database, userId)).network,
    onClaimEnded: (end) => logger.info(end, 'a task no longer holds its VM'),
  });
  await host.start();
  const preparing = prepareImages(config, provider, images).catch((error: unknown) => {
    logger.warn({ reason: describeError(error) }, 'no image could be made ready; VMs boot, or cannot be had');
  });
  return {
    host,
    stop: async () => {
      await images.stop();
      await preparing;
      await host.stop();
    },
  };
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

/**
 * Where VMs can be had: builds an image when there is none that tasks could use, and gives the one that they will get
 * its base snapshot when this host has none of it (it was imported, or VMs have another size now).
 */
async function prepareImages(config: Config, provider: SandboxProvider, images: ImageService): Promise<void> {
  const names = [config.sandbox.developerTemplate, FIRST_IMAGE];
  if (!(await provider.health()).available) return;
  const there = (await images.list()).filter(({ name, state }) => names.includes(name) && state === 'ready');
  for (const { name, hasBaseSnapshot } of there) {
    const image = hasBaseSnapshot ? null : await images.find(name);
    if (image !== null) await images.ensureBaseSnapshot(image);
  }
  if (there.length > 0) return;
  if ((await findMissingForBuild(getuid?.() === 0)) !== null) return;
  await images.build(FIRST_IMAGE);
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
