/** What a fake provider is told to answer, free of any provider's format. */
export interface FakeAnswer {
  /** Deltas, exactly as they are streamed: halves of a character too. */
  text?: string[];
  reasoning?: string[];
  calls?: FakeCall[];
  finish?: 'stop' | 'length';
  usage?: { input: number; cached: number; output: number; reasoning: number };
}

export interface FakeCall {
  id: string;
  name: string;
  /** Fragments of the argument text, exactly as they are streamed. */
  fragments: string[];
}

export const FAKE_USAGE = { input: 100, cached: 40, output: 20, reasoning: 5 };

/** Server-sent events of an answer. Without `ending` the answer is not finished. */
export interface Frames {
  opening: string[];
  body: string[];
  ending: string[];
}

/** A provider's true streaming format, and what it refuses. */
export interface Dialect {
  /** Requests elsewhere get 404. */
  path: RegExp;
  encode: (answer: FakeAnswer) => Frames;
  /** What it sends to keep a connection alive. */
  ping: string;
  /** An error inside a stream that began well. */
  streamError: (status: number, message: string) => string;
  errorBody: (status: number, message: string) => unknown;
  /** Why the real one would answer 400, or `null`. */
  refuse: (body: JsonObject) => string | null;
}

export type JsonObject = Record<string, unknown>;

export function frame(data: unknown, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  return `${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** The items of a field that should be an array of objects. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

/** Says which ids of one list are missing from the other: calls without results, results without calls. */
export function missingFrom(ids: readonly string[], others: readonly string[]): string[] {
  return ids.filter((id) => !others.includes(id));
}
