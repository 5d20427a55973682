/** How far into a page its own word about its character set is looked for. */
const PRESCAN_BYTES = 4_096;

/**
 * Decodes the text of a web answer: by byte order mark, else by the header's character set, else by what a page
 * says of itself, else as UTF-8 or, where it is none, as windows-1252 (as browsers do).
 */
export function decodeText(bytes: Uint8Array, headerCharset: string | null): string {
  const label = markedCharset(bytes) ?? known(headerCharset) ?? statedCharset(bytes);
  if (label !== null) return new TextDecoder(label).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function markedCharset(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : null;
}

function statedCharset(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');
  const stated =
    /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(
      start,
    );
  const label = known(stated?.[1] ?? stated?.[2] ?? null);
  // What could be read as ASCII up to here is not UTF-16, whatever it says (HTML standard).
  return label?.startsWith('utf-16') === true ? 'utf-8' : label;
}

/** A label that the decoder knows, else `null`. */
function known(label: string | null): string | null {
  try {
    return label === null ? null : new TextDecoder(label.trim()).encoding;
  } catch {
    return null;
  }
}
