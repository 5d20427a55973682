import { AppError } from '../../kernel/app-error.ts';

/** An image that came within a request. */
export interface SentImage {
  name: string;
  mediaType: string;
  bytes: Buffer;
}

const ENDINGS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/**
 * Reads the image of a content part; `number` is its place among those of the request.
 * @param path where it stands in the request.
 * @throws AppError `openai.unsupported-content` for an address (nothing is fetched) and for what is no image.
 */
export function readImage(url: string, number: number, path: string): SentImage {
  const comma = url.indexOf(',');
  const mediaType = /^data:([\w/.+-]+);base64$/i.exec(url.slice(0, comma))?.[1]?.toLowerCase() ?? '';
  const ending = ENDINGS[mediaType];
  const bytes = ending === undefined ? null : Buffer.from(url.slice(comma + 1), 'base64');
  if (ending === undefined || bytes === null || bytes.length === 0) {
    throw unsupported(path, 'An image is taken as a data: URL of a PNG, JPEG, GIF or WebP in base64 only.');
  }
  return { name: `image-${number}.${ending}`, mediaType, bytes };
}

export function unsupported(path: string, message: string): AppError {
  return new AppError('openai.unsupported-content', message, { errors: [{ path, message }] });
}
