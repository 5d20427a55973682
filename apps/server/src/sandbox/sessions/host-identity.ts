import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../kernel/ids.ts';

const MIB = 1024 * 1024;
/** What QEMU itself takes beside a guest's memory. */
const OVERHEAD_MIB = 128;
const SHARE_OF_MEMORY = 0.6;

/** The id of this host, kept with its machines' folders: they and the database's rows name the same host. */
export async function readHostId(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'host-id');
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (known !== null && /^[0-9a-f-]{36}$/.test(known.trim())) return known.trim();
  const id = newId();
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${id}\n`, { mode: 0o600 });
  await rename(draft, file);
  return id;
}

/** How many VMs of a size fit into three fifths of this machine's memory, but at least one. */
export function capacityByMemory(memoryMib: number, machineBytes = totalmem()): number {
  return Math.max(1, Math.floor((machineBytes * SHARE_OF_MEMORY) / ((memoryMib + OVERHEAD_MIB) * MIB)));
}
