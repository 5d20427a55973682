/**
 * Provider packages swallow much of what keeps a connection alive (comments, unknown events), and some wait for the first
 * content before they hand out their stream. So that a model which thinks for long is not taken for a dead
 * one, the bytes themselves are noticed. Fetch and attempt know each other by the attempt's own abort signal.
 */
const listeners = new WeakMap<AbortSignal, () => void>();

/** Calls `onBytes` whenever bytes arrive for the call that this signal belongs to. */
export function noticeBytes(signal: AbortSignal, onBytes: () => void): void {
  listeners.set(signal, onBytes);
}

/** The same fetch, telling who listens that bytes arrive. */
export function tapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const onBytes = init?.signal ? listeners.get(init.signal) : undefined;
    if (onBytes === undefined || response.body === null) return response;
    onBytes();
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onBytes();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(tap), response);
  };
}
