import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** A stream of what a generator yields, made only as fast as it is read. Errors with the signal's reason on abort. */
export function streamOf(
  parts: AsyncGenerator<LanguageModelV4StreamPart>,
  signal?: AbortSignal,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          signal?.throwIfAborted();
          const next = await parts.next();
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          controller.error(error);
        }
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
