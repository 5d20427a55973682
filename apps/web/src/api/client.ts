import { problem } from '@vitto/contracts';
import { z } from 'zod';
import { ApiError } from './api-error.ts';
import { noteServerDate } from './server-clock.ts';

export interface ApiRequest<T> {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api; its parts encoded. */
  path: string;
  body?: unknown;
  /** The same key again cannot do the same thing twice. */
  idempotencyKey?: string;
  schema: z.ZodType<T>;
  signal?: AbortSignal;
}

/** Requests to the server of this page. Answers are checked against the contract. */
export class ApiClient {
  /** Sent with everything that changes something. */
  csrfToken: string | null = null;
  /** Called when the server does not know the session any more. */
  onSignedOut: () => void = () => {};
  /** Gets a new csrf token; called once when one is refused. */
  refreshSession: () => Promise<void> = async () => {};

  /** @throws ApiError */
  async send<T>(request: ApiRequest<T>): Promise<T> {
    let response = await this.#fetch(request);
    if (response.status === 403 && request.method !== undefined && (await isCsrfRefusal(response.clone()))) {
      await this.refreshSession();
      response = await this.#fetch(request);
    }
    noteServerDate(response.headers.get('date'));
    if (!response.ok) throw await this.#toError(response, request.path);
    if (response.status === 204) return request.schema.parse(undefined);
    const parsed = request.schema.safeParse(await readJson(response));
    if (!parsed.success) throw new ApiError(response.status, 'shape', z.prettifyError(parsed.error));
    return parsed.data;
  }

  async #fetch(request: ApiRequest<unknown>): Promise<Response> {
    const headers = new Headers({ accept: 'application/json' });
    if (request.body !== undefined) headers.set('content-type', 'application/json');
    if (request.idempotencyKey !== undefined) headers.set('idempotency-key', request.idempotencyKey);
    if (request.method !== undefined && this.csrfToken !== null) headers.set('x-csrf-token', this.csrfToken);
    try {
      return await fetch(`/api${request.path}`, {
        method: request.method ?? 'GET',
        headers,
        credentials: 'same-origin',
        cache: 'no-store',
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
    } catch (error) {
      if (request.signal?.aborted) throw error;
      throw new ApiError(0, 'network', 'The server cannot be reached.');
    }
  }

  async #toError(response: Response, path: string): Promise<ApiError> {
    if (response.status === 401 && path !== '/session') this.onSignedOut();
    const parsed = problem.safeParse(await readJson(response));
    return parsed.success
      ? ApiError.fromProblem(response.status, parsed.data)
      : new ApiError(response.status, 'http', `${response.status} ${response.statusText}`.trim());
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

async function isCsrfRefusal(response: Response): Promise<boolean> {
  const parsed = problem.safeParse(await readJson(response));
  return parsed.success && parsed.data.code.includes('csrf');
}
