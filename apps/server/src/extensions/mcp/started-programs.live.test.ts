import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StartedPrograms } from './started-programs.ts';
import { isAlive } from './testing/stub.ts';

let folder: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitto-programs-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** A program that leads a group of its own, as servers do. */
async function startProgram(): Promise<number> {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  children.push(child);
  await new Promise((resolve) => child.once('spawn', resolve));
  return child.pid ?? 0;
}
type Noted = { host: string; by: { pid: number; started: string }; program: { started: string } };
/** Changes what was noted of the only program. */
async function rewrite(change: (noted: Noted) => void): Promise<void> {
  const file = join(folder, (await readdir(folder))[0] ?? '');
  const noted = JSON.parse(await readFile(file, 'utf8')) as Noted;
  change(noted);
  await writeFile(file, JSON.stringify(noted));
}
const orphan = (noted: Noted) => {
  noted.by.started = 'an earlier one';
};

describe('programs that were started', () => {
  it('are ended when their Vitto is gone, and forgotten', async () => {
    const programs = new StartedPrograms(folder);
    const pid = await startProgram();
    programs.note(pid);
    await rewrite(orphan);
    expect(await programs.sweep()).toEqual([pid]);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  it('go on while their Vitto runs', async () => {
    const programs = new StartedPrograms(folder);
    const pid = await startProgram();
    const forget = programs.note(pid);
    expect(await programs.sweep()).toEqual([]);
    expect(isAlive(pid)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
    forget();
    expect(await readdir(folder)).toEqual([]);
  });

  it('are told from a later process with the same pid', async () => {
    const programs = new StartedPrograms(folder);
    const pid = await startProgram();
    programs.note(pid);
    await rewrite((noted) => {
      orphan(noted);
      noted.program.started = `${noted.program.started}0`;
    });
    expect(await programs.sweep()).toEqual([]);
    expect(isAlive(pid)).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  it('of another machine are left alone, and half a file stands in no way', async () => {
    const programs = new StartedPrograms(folder);
    const pid = await startProgram();
    programs.note(pid);
    await rewrite((noted) => {
      orphan(noted);
      noted.host = 'another.machine';
    });
    await writeFile(join(folder, 'half.json'), '{"host":');
    expect(await programs.sweep()).toEqual([]);
    expect(isAlive(pid)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
  });
});
