import { tooLarge } from './network-error.ts';

/**
 * Reads a body whole. What counts is its size after decompression; the source is closed as soon as it has given too much.
 * @throws AppError `network.too-large`, or what the stream failed with
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  host: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop cancels the stream, and with it the connection.
    if (length > maxBytes) throw tooLarge(host, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
