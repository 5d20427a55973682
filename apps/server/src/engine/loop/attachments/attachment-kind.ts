import type { ArtifactRef } from '@vitto/contracts';

/** How a file of a message is given to the model: shown, as text in the message, or by its name alone. */
export type AttachmentKind = 'image' | 'text' | 'other';

/** What the providers take as pictures. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** The smallest of the providers' limits, in bytes. */
export const IMAGE_MAX_BYTES = 5 * 1024 * 1024;
/** Characters of one file, and of all files of one message, that stand in the message itself. */
export const TEXT_MAX_LENGTH = 20_000;
export const MESSAGE_TEXT_MAX_LENGTH = 60_000;

const TEXT_TYPES =
  /^(?:text\/.*|.*\+(?:json|xml|yaml)|application\/(?:json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|csv|sql|javascript|typescript|x-sh|x-httpd-php|graphql|x-python))$/u;
const TEXT_ENDINGS = new Set(
  (
    'txt md markdown rst adoc tex csv tsv json jsonl json5 xml yaml yml toml ini cfg conf env properties log diff patch ' +
    'html htm css scss less svg js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php java kt kts scala groovy clj ex exs ' +
    'erl hs ml fs cs vb c h cc cpp cxx hpp m mm go rs swift zig nim dart lua pl pm r jl sh bash zsh fish ps1 bat cmd sql ' +
    'graphql proto tf hcl nix cmake gradle make mk dockerfile gitignore editorconfig lock srt vtt ics eml'
  ).split(' '),
);

/** Judged by its name, type and size alone, so that estimates need not read it; what the bytes say is checked when they are. */
export function kindOf({ name, mediaType, bytes }: ArtifactRef): AttachmentKind {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (IMAGE_TYPES.has(type)) return bytes <= IMAGE_MAX_BYTES ? 'image' : 'other';
  const ending = name.toLowerCase().split('.').at(-1) ?? '';
  return TEXT_TYPES.test(type) || TEXT_ENDINGS.has(ending) ? 'text' : 'other';
}

/** Bytes of prompt that a picture counts as: about 1,500 tokens where budgets reckon two bytes a token. */
const IMAGE_WEIGHT = 3_000;
/** Of the line that names a file, and the frame around its text. */
const NAME_WEIGHT = 600;

/** Bytes of the prompt that files add to the message they came with, at most. */
export function weighAttachments(refs: readonly ArtifactRef[]): number {
  let text = 0;
  let rest = 0;
  for (const ref of refs) {
    const kind = kindOf(ref);
    rest += NAME_WEIGHT + (kind === 'image' ? IMAGE_WEIGHT : 0);
    // A character of a text has up to three bytes in the prompt.
    if (kind === 'text') text += Math.min(ref.bytes, TEXT_MAX_LENGTH * 3);
  }
  return rest + Math.min(text, MESSAGE_TEXT_MAX_LENGTH * 3);
}

const SIGNATURES: [mediaType: string, isIt: (bytes: Uint8Array) => boolean][] = [
  ['image/png', (bytes) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff])],
  ['image/gif', (bytes) => startsWith(bytes, [0x47, 0x49, 0x46, 0x38])],
  [
    'image/webp',
    (bytes) =>
      startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50]),
  ],
];

/** The type of a picture by its first bytes, whatever it was said to be; `null` for what is none that providers take. */
export function readImageType(bytes: Uint8Array): string | null {
  return SIGNATURES.find(([, isIt]) => isIt(bytes))?.[0] ?? null;
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

/** The text of a file's beginning: `null` when it is not UTF-8 or holds a NUL. A character that is cut at the end is left out. */
export function readText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
