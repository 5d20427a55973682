import { artifact, problem, type Artifact } from '@vitto/contracts';
import { ApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';

interface Upload {
  file: File;
  /** Part of it that has been sent, from 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads a file for a message and tells how far it is, which `fetch` cannot.
 * @throws ApiError; `aborted` when the signal ended it.
 */
export async function uploadFile(client: ApiClient, upload: Upload): Promise<Artifact> {
  try {
    return await send(client, upload);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403 || !error.code.includes('csrf')) throw error;
    await client.refreshSession();
    return send(client, upload);
  }
}

function send(client: ApiClient, { file, onProgress, signal }: Upload): Promise<Artifact> {
  const query = new URLSearchParams({ name: toName(file), mediaType: toMediaType(file.type) });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/attachments?${query}`);
    request.responseType = 'json';
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('content-type', 'application/octet-stream');
    if (client.csrfToken !== null) request.setRequestHeader('x-csrf-token', client.csrfToken);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(new ApiError(0, 'network', 'The server cannot be reached.'));
    request.onabort = () => reject(new ApiError(0, 'aborted', 'The upload was stopped.'));
    request.onload = () => {
      const made = artifact.safeParse(request.response);
      if (request.status < 300 && made.success) return resolve(made.data);
      if (request.status === 401) client.onSignedOut();
      reject(toUploadError(request));
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function toUploadError(request: XMLHttpRequest): ApiError {
  const said = problem.safeParse(request.response);
  if (said.success) return ApiError.fromProblem(request.status, said.data);
  if (request.status < 300) return new ApiError(request.status, 'shape', 'The answer is no file.');
  return new ApiError(request.status, 'http', `${request.status} ${request.statusText}`.trim());
}

/** As the contract takes it; a pasted picture may have no name. */
function toName(file: File): string {
  const name = file.name.trim().toWellFormed();
  return name === '' ? 'file' : name.slice(-200).toWellFormed();
}

function toMediaType(type: string): string {
  const plain = type.split(';', 1)[0]?.trim() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(plain) && plain.length <= 100 ? plain : 'application/octet-stream';
}
