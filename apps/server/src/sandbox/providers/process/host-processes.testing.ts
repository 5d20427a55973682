import { readdirSync, readFileSync } from 'node:fs';

/** Command lines of this machine's processes that contain `part`, for tests. */
export function hostProcesses(part: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(part));
}
