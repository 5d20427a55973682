/** Sends requests to a test server and reads JSON answers. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; `undefined` when it is empty or no JSON. */
  json: Record<string, unknown>;
}

export interface Call {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: string | Uint8Array;
}

export function createClient(url: string, token?: string): (path: string, call?: Call) => Promise<Answer> {
  return async (path, call = {}) => {
    const hasBody = call.json !== undefined || call.body !== undefined;
    const answer = await fetch(`${url}${path}`, {
      method: call.method ?? (hasBody ? 'POST' : 'GET'),
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...call.headers,
      },
      ...(hasBody ? { body: (call.body as string | undefined) ?? JSON.stringify(call.json) } : {}),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: parse(text) };
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
