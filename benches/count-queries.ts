interface QueryClient {
  prototype: object;
}

/** Counts the statements that all clients of this class send from now on: each is one round trip. */
export function countQueries(client: QueryClient): () => number {
  let count = 0;
  const target = client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = target;
  target.query = function counted(this: unknown, ...args: unknown[]): unknown {
    count += 1;
    return Reflect.apply(query, this, args);
  };
  return () => count;
}
