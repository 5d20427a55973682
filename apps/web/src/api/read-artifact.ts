import { artifact, problem, type Artifact } from '@vitto/contracts';
import { ApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { artifactAddress } from './vitto-api.ts';

/** What an artifact is. @throws ApiError */
export function readArtifactFacts(client: ApiClient, id: string): Promise<Artifact> {
  return client.send({ path: `/artifacts/${encodeURIComponent(id)}`, schema: artifact });
}

/**
 * A part of an artifact's bytes, from `start` up to before `end`.
 * @throws ApiError
 */
export async function readArtifactBytes(
  client: ApiClient,
  id: string,
  range: { start: number; end: number },
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (range.end <= range.start) return new Uint8Array();
  const response = await request(id, range, signal);
  if (!response.ok) throw await toError(client, response);
  return new Uint8Array(await response.arrayBuffer());
}

async function request(
  id: string,
  { start, end }: { start: number; end: number },
  signal?: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(artifactAddress(id), {
      headers: { range: `bytes=${start}-${end - 1}` },
      credentials: 'same-origin',
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, 'network', 'The server cannot be reached.');
  }
}

async function toError(client: ApiClient, response: Response): Promise<ApiError> {
  if (response.status === 401) client.onSignedOut();
  const said = problem.safeParse(await response.json().catch(() => null));
  if (said.success) return ApiError.fromProblem(response.status, said.data);
  return new ApiError(response.status, 'http', `${response.status} ${response.statusText}`.trim());
}
