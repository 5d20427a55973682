import type { ApiError } from '../../../api/api-error.ts';

/** The folders that the tasks of one conversation may read, and how to change them. */
export interface FolderAccess {
  /** Absolute paths on the server's machine. */
  readonly folders: readonly string[];
  readonly isChanging: boolean;
  readonly error: ApiError | null;
  /** What did not happen because of the error, in a few words. */
  readonly errorTitle: string;
  /** A task runs: it keeps the folders with which it began. */
  readonly isTaskRunning: boolean;
  /** Changes the newest list there is; false when the server refused it, and then nothing has changed. */
  readonly change: (edit: FolderEdit) => Promise<boolean>;
}

export type FolderEdit = (folders: readonly string[]) => readonly string[];

export const addFolder =
  (path: string): FolderEdit =>
  (folders) =>
    folders.includes(path) ? folders : [...folders, path];

export const removeFolder =
  (path: string): FolderEdit =>
  (folders) =>
    folders.filter((folder) => folder !== path);

export const removeAllFolders: FolderEdit = () => [];

/** The server's answer to a folder that is none, or that holds secrets. */
export function isFolderRefusal(error: ApiError | null): boolean {
  return error?.code === 'path.not-allowed';
}
