/** A file as a browser gives it, with its path within what was chosen: `folder/SKILL.md`. */
export interface ChosenFile {
  path: string;
  file: Blob;
}
export interface SkillFolder {
  name: string;
  /** Text of SKILL.md. */
  text: string;
  /** The others, in base64. */
  files: { path: string; content: string }[];
  /** Hidden files were among them, which are no part of a skill. */
  hasIgnored: boolean;
}
export type ReadFolder =
  { kind: 'folder'; folder: SkillFolder } | { kind: 'refused'; reason: 'no-skill-file' | 'too-many' };

/** As many as the server takes beside SKILL.md. */
export const MAX_SKILL_FILES = 100;

/** Reads a folder that was chosen or dropped. Rejects when a file cannot be read. */
export async function readSkillFolder(chosen: readonly ChosenFile[]): Promise<ReadFolder> {
  const visible = chosen.filter(({ path }) => !path.split('/').some((name) => name.startsWith('.')));
  const main = visible.find(({ path }) => path.split('/').at(-1) === 'SKILL.md' && depthOf(path) <= 2);
  if (main === undefined) return { kind: 'refused', reason: 'no-skill-file' };
  const base = main.path.slice(0, -'SKILL.md'.length);
  const others = visible.filter((one) => one !== main && one.path.startsWith(base));
  if (others.length > MAX_SKILL_FILES) return { kind: 'refused', reason: 'too-many' };
  const files: SkillFolder['files'] = [];
  for (const { path, file } of others)
    files.push({
      path: path.slice(base.length),
      content: toBase64(new Uint8Array(await file.arrayBuffer())),
    });
  const folder = {
    name: base.replace(/\/$/, ''),
    text: await main.file.text(),
    files,
    hasIgnored: visible.length < chosen.length,
  };
  return { kind: 'folder', folder };
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // A call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** The files of the folders that were dropped; stops reading where there are more than any skill has. */
export async function listDropped(items: DataTransferItemList): Promise<ChosenFile[]> {
  // The list is empty once this turn of the page is over: the entries are taken at once.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const found: ChosenFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

async function collect(entry: FileSystemEntry, found: ChosenFile[]): Promise<void> {
  if (found.length > MAX_SKILL_FILES * 10) return;
  const path = entry.fullPath.replace(/^\//, '');
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ path, file });
  } else if (isDirectory(entry) && !entry.name.startsWith('.')) {
    const reader = entry.createReader();
    for (;;) {
      // A folder is given in parts, the last of them empty.
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (part.length === 0) return;
      for (const inner of part) await collect(inner, found);
    }
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
