/** Bytes of one answer, at most. A stream that lasts is opened again by the SDK. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The same answer, whose body fails once it grows beyond the limit. */
export function limitBody(response: Response, maxBytes = MAX_BYTES): Response {
  if (response.body === null) return response;
  let read = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      read += piece.length;
      if (read > maxBytes) controller.error(new Error(`the answer is larger than ${maxBytes} bytes`));
      else controller.enqueue(piece);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), {
    status,
    statusText,
    headers: new Headers([...headers]),
  });
}
