import { AppError } from '../../kernel/app-error.ts';
import type { ImageService } from '../images/image-service.ts';
import type { VmImage } from '../providers/sandbox-provider.ts';

/**
 * The image to start a machine from: of a kept disk the very one that it lies over.
 * @throws AppError `sandbox.image-building` (how far it is), `sandbox.image-missing` (what to do)
 */
export async function findImage(
  images: Pick<ImageService, 'find' | 'list'>,
  template: string,
  hash: string | null,
): Promise<VmImage> {
  const image = await images.find(template, hash ?? undefined);
  if (image !== null) return image;
  const info = (await images.list()).find((one) => one.name === template);
  if (hash === null && info?.progress != null) {
    const { step, fraction } = info.progress;
    throw new AppError(
      'sandbox.image-building',
      `The image "${template}" is being built: ${Math.floor(fraction * 100)} % (${step}).`,
      { status: 503, hint: 'Wait for it, or go on without a VM.', details: { template, fraction } },
    );
  }
  const what =
    hash === null
      ? `There is no image "${template}" on this host.`
      : `The disk of this machine lies over an image "${template}" (${hash.slice(0, 12)}) that is no longer on this host.`;
  const hint =
    hash === null
      ? (info?.problem ??
        `\`vitto image build ${template}\` builds it, \`vitto image import FILE\` brings it.`)
      : '`vitto image import FILE` brings it back; else forget the machine under Operations, System: its files are lost then.';
  throw new AppError('sandbox.image-missing', what, { status: 503, hint, details: { template } });
}
