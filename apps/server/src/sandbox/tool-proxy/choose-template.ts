import type { ImageInfo, SandboxHostInfo } from '@vitto/contracts';

/** Serves every task that needs no more than Python and git while the wanted image is not there. */
const FALLBACK = 'minimal';

export type TemplateChoice =
  | { kind: 'chosen'; template: string; notices: string[] }
  /** No host can start one; `isPassing`: that may change by itself or by building an image. */
  | { kind: 'none'; reason: string; hint: string | undefined; isPassing: boolean };

/**
 * Which image a task's VM is made from: the one it has had, else the wanted one, else `minimal`, of those that a host
 * has ready. By what hosts say of themselves; nothing is started.
 */
export function chooseTemplate(
  hosts: readonly SandboxHostInfo[],
  wanted: string,
  earlier: string | null,
): TemplateChoice {
  const usable = hosts.filter((host) => host.isReachable && host.provider !== 'none' && host.reason === null);
  if (usable.length === 0) return noHost(hosts);
  const images = usable.flatMap((host) => host.images);
  const isReady = (name: string) => images.some((image) => image.name === name && image.state === 'ready');
  if (earlier !== null) {
    if (isReady(earlier)) return { kind: 'chosen', template: earlier, notices: [] };
    return noImage(images, earlier);
  }
  if (isReady(wanted)) return { kind: 'chosen', template: wanted, notices: [] };
  if (!isReady(FALLBACK)) {
    const isComing = findImage(images, FALLBACK)?.state === 'building';
    return noImage(images, isComing ? FALLBACK : wanted);
  }
  const why = describeImage(findImage(images, wanted), wanted);
  const notice = `${why} This task uses the image "${FALLBACK}" (Python and git, no Node.js).`;
  return { kind: 'chosen', template: FALLBACK, notices: [notice] };
}

function noHost(hosts: readonly SandboxHostInfo[]): TemplateChoice {
  const away = hosts.find((host) => !host.isReachable);
  const unable = hosts.find((host) => host.reason !== null);
  const reason =
    away === undefined
      ? (unable?.reason ?? 'This installation has no sandbox host.')
      : `The sandbox host ${away.name} does not answer.`;
  return { kind: 'none', reason, hint: (away ?? unable)?.hint ?? undefined, isPassing: away !== undefined };
}

function noImage(images: readonly ImageInfo[], name: string): TemplateChoice {
  const found = findImage(images, name);
  const isBuilding = found?.state === 'building';
  return {
    kind: 'none',
    reason: describeImage(found, name),
    hint: isBuilding ? undefined : `Build it: vitto image build ${name}`,
    isPassing: true,
  };
}

function findImage(images: readonly ImageInfo[], name: string): ImageInfo | undefined {
  const named = images.filter((image) => image.name === name);
  return named.find((image) => image.state === 'building') ?? named[0];
}

function describeImage(image: ImageInfo | undefined, name: string): string {
  if (image?.state === 'building') {
    const { progress } = image;
    const far = progress === null ? '' : ` (${progress.step}, ${Math.round(progress.fraction * 100)} %)`;
    return `The image "${name}" is being built${far}.`;
  }
  if (image?.state === 'failed') {
    return `The image "${name}" could not be built${image.problem === null ? '' : `: ${image.problem}`}.`;
  }
  return `The image "${name}" has not been built.`;
}
