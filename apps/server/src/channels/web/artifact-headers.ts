import { create as createDisposition } from 'content-disposition';
import type { ArtifactRef } from '@vitto/contracts';

/** Shown in the browser when asked for; everything else is saved. Never what can carry a script (HTML, SVG, XML, PDF). */
const SHOWABLE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain']);
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/i;
/** An artifact is somebody else's text: whatever it turns out to be, it runs nothing and loads nothing. */
const ARTIFACT_CSP = "default-src 'none'; sandbox";

/** Headers of an artifact's content that are safe for any name and any declared type. */
export function toArtifactHeaders(artifact: ArtifactRef): Record<string, string> {
  const declared = artifact.mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const type = MEDIA_TYPE.test(declared) ? declared : 'application/octet-stream';
  return {
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'content-disposition': createDisposition(toFileName(artifact.name), {
      type: SHOWABLE.has(type) ? 'inline' : 'attachment',
    }),
    'x-content-type-options': 'nosniff',
    'content-security-policy': ARTIFACT_CSP,
    'cache-control': 'private, max-age=31536000, immutable',
    'accept-ranges': 'bytes',
  };
}

/** The last part of the name, without what a header or a file system chokes on. */
function toFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/u).at(-1) ?? '';
  const clean = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '_').trim();
  return clean === '' || /^\.+$/u.test(clean) ? 'artifact' : clean;
}

/** One range of bytes, both ends included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The single range a `Range` header asks for; `null` for the whole, `'unsatisfiable'` when it lies outside. */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (start >= size) return 'unsatisfiable';
  return start > end ? null : { start, end };
}
