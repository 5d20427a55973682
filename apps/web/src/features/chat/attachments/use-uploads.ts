import { ATTACHMENT_MAX_BYTES, type ArtifactRef } from '@vitto/contracts';
import { useEffect, useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../../api/api-error.ts';
import { uploadFile } from '../../../api/upload-file.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import type { ChangeDraft } from '../draft.ts';

/** As many as a message takes. */
export const MAX_FILES = 20;

/** A file on its way to the server, or one that did not get there. */
export interface Upload {
  readonly key: string;
  readonly file: File;
  /** From 0 to 1. */
  readonly progress: number;
  readonly fault: 'too-large' | 'empty' | ApiError | null;
}

export interface Uploads {
  readonly uploads: readonly Upload[];
  readonly isUploading: boolean;
  /** More files were given than a message takes; the first ones were taken. */
  readonly isOverfull: boolean;
  readonly add: (files: readonly File[]) => void;
  readonly again: (upload: Upload) => void;
  /** Stops an upload, or takes one away that failed. */
  readonly drop: (key: string) => void;
}

/** Files that are uploaded as soon as they are given; those that have arrived belong to the draft. */
export function useUploads(files: readonly ArtifactRef[], change: ChangeDraft): Uploads {
  const { client } = useVitto();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [isOverfull, setOverfull] = useState(false);
  const stops = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const running = stops.current;
    return () => running.forEach((stop) => stop.abort());
  }, []);

  const update = (key: string, part: Partial<Upload>) =>
    setUploads((now) => now.map((one) => (one.key === key ? { ...one, ...part } : one)));
  const drop = (key: string) => {
    stops.current.get(key)?.abort();
    stops.current.delete(key);
    setUploads((now) => now.filter((one) => one.key !== key));
  };
  const start = async ({ key, file }: Upload): Promise<void> => {
    const stop = new AbortController();
    stops.current.set(key, stop);
    const onProgress = (progress: number) => update(key, { progress });
    try {
      const { id, name, mediaType, bytes } = await uploadFile(client, {
        file,
        onProgress,
        signal: stop.signal,
      });
      drop(key);
      change((draft) => ({ ...draft, files: [...draft.files, { id, name, mediaType, bytes }] }));
    } catch (failure) {
      if (!stop.signal.aborted) update(key, { fault: toApiError(failure) });
    }
  };
  const add = (given: readonly File[]) => {
    const room = MAX_FILES - files.length - uploads.length;
    const made = given.slice(0, Math.max(0, room)).map(toUpload);
    setOverfull(given.length > made.length);
    setUploads((now) => [...now, ...made]);
    for (const upload of made) if (upload.fault === null) void start(upload);
  };
  const again = (upload: Upload) => {
    update(upload.key, { fault: null, progress: 0 });
    void start(upload);
  };
  return { uploads, isUploading: uploads.some((one) => one.fault === null), isOverfull, add, again, drop };
}

function toUpload(file: File): Upload {
  const fault = file.size > ATTACHMENT_MAX_BYTES ? 'too-large' : file.size === 0 ? 'empty' : null;
  return { key: crypto.randomUUID(), file, progress: 0, fault };
}
