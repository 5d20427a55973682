import type { ArtifactRef } from '@vitto/contracts';

/** How a file is shown: `none` is only offered for download. */
export type ArtifactKind = 'image' | 'diff' | 'table' | 'json' | 'markdown' | 'text' | 'none';

/** What the browser draws from bytes in an `img`, where nothing in it can run. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const TEXTUAL =
  /^application\/(?:.*\+)?(?:xml|javascript|ecmascript|typescript|yaml|x-yaml|toml|sql|x-sh|x-shellscript|graphql|x-httpd-php|x-tex)$/;

const BY_ENDING: Record<string, ArtifactKind> = {
  patch: 'diff',
  diff: 'diff',
  csv: 'table',
  tsv: 'table',
  json: 'json',
  md: 'markdown',
  markdown: 'markdown',
};
const TEXT_ENDINGS = new Set(
  'txt log js jsx ts tsx mjs cjs py rb go rs c h cc cpp hpp cs java kt swift php pl lua r sh bash zsh fish ps1 sql yaml yml toml ini cfg conf env xml html htm css scss less vue svelte tex gradle lock jsonl ndjson'.split(
    ' ',
  ),
);

/** Larger ones are shown as text: to make something of them takes all of them at once. */
export const WHOLE_MAX_BYTES = 2 * 1024 * 1024;

export function chooseKind({
  name,
  mediaType,
  bytes,
}: Pick<ArtifactRef, 'name' | 'mediaType' | 'bytes'>): ArtifactKind {
  const type = (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (IMAGES.test(type)) return 'image';
  const kind = chooseByType(type) ?? chooseByName(name, type);
  return bytes > WHOLE_MAX_BYTES && (kind === 'json' || kind === 'markdown') ? 'text' : kind;
}

function chooseByType(type: string): ArtifactKind | null {
  if (type === 'text/x-diff' || type === 'text/x-patch') return 'diff';
  if (type === 'text/csv' || type === 'text/tab-separated-values') return 'table';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type === 'text/markdown') return 'markdown';
  return null;
}

function chooseByName(name: string, type: string): ArtifactKind {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  // The type is what the server says; a name alone makes no binary file a text.
  const isText = type.startsWith('text/') || TEXTUAL.test(type);
  const isUnknown = type === '' || type === 'application/octet-stream';
  if (!isText && !isUnknown) return 'none';
  const byName = BY_ENDING[ending];
  if (byName !== undefined) return byName;
  return isText || TEXT_ENDINGS.has(ending) ? 'text' : 'none';
}
