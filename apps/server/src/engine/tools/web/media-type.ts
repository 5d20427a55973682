import { MIMEType } from 'node:util';

export type Reading = 'page' | 'text' | 'none';

export interface MediaType {
  /** Without parameters, in lower case; empty when the answer names none. */
  essence: string;
  charset: string | null;
  /** How it is shown: as a page that is read, as the text that it is, or not at all. */
  reading: Reading;
}

const PAGES = new Set(['text/html', 'application/xhtml+xml']);
const TEXTS =
  /^(text\/.+|application\/(json|xml|javascript|ecmascript|x-javascript|typescript|yaml|x-yaml|toml|ndjson|x-ndjson|jsonlines|json5|sql|graphql|x-sh|x-httpd-php|rtf|x-tex|x-latex|x-subrip|mbox|pgp-keys)|.+\+(json|xml|yaml))$/;

/** What a `content-type` header says. */
export function parseMediaType(header: string | null): MediaType {
  let type: MIMEType;
  try {
    type = new MIMEType(header ?? '');
  } catch {
    return { essence: '', charset: null, reading: 'text' };
  }
  const { essence } = type;
  const isShown = TEXTS.test(essence) && essence !== 'image/svg+xml';
  const reading = PAGES.has(essence) ? 'page' : isShown ? 'text' : 'none';
  return { essence, charset: type.params.get('charset'), reading };
}

/** What a body is that names no type: a page, some other text, or neither. */
export function sniffReading(bytes: Uint8Array): Reading {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  if (/^\s*<(!doctype html|html|head|body)[\s>]/i.test(start)) return 'page';
  return start.includes('\0') ? 'none' : 'text';
}
