import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuestSession } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { ProcessSandboxService } from '../providers/process/process-sandbox-service.ts';
import { copyFolders } from './copy-folders.ts';
import { COPY_MAX_BYTES } from './pack-folder.ts';

/** The process sandbox, which sees none of the host's folders either, stands in for a VM: it starts at once. */
describe('folders that a user allows, in a machine that has none of them', () => {
  let root: string;
  let sandbox: ProcessSandboxService;
  let guest: GuestSession;
  const taskId = newId();
  const { signal } = new AbortController();
  const copy = (path: string, by = taskId, secretFolders: string[] = []) =>
    copyFolders(guest, [path], { taskId: by, secretFolders, signal });
  const sh = async (command: string) => {
    const { stdout, stderr } = await guest.exec({ command, timeoutMs: 30_000 });
    return `${stdout.text}${stderr.text}`.trim();
  };

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'vitto-copies-'));
    await chmod(root, 0o755);
    sandbox = new ProcessSandboxService({ root: join(root, 'sandboxes') });
    guest = await sandbox.open({ taskId, readOnlyPaths: [] });
  });
  afterAll(async () => {
    await sandbox.close(taskId);
    await sandbox.stop();
    await rm(root, { recursive: true, force: true });
  });

  it('are copied whole, links as links, whatever their names are', async () => {
    const project = join(root, "ana's $(touch hurt)");
    await mkdir(join(project, '.git'), { recursive: true });
    await mkdir(join(root, 'other'));
    await writeFile(join(root, 'other', 'key'), 'not allowed');
    await writeFile(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(project, 'run;touch hurt.sh'), 'echo hi\n', { mode: 0o755 });
    await symlink(join(root, 'other', 'key'), join(project, 'link'));
    const [notice] = await copy(project);
    expect(notice).toBe(
      `A copy of ${project} is in /home/user/work/ana_s___touch_hurt_ (as it is now); changes stay in the VM.`,
    );
    expect(await sh('cd work/ana_s* && cat .git/HEAD && sh "run;touch hurt.sh" && cat link; ls')).toMatch(
      /^ref: refs\/heads\/main\nhi\nlink\nrun;touch hurt\.sh\n?.*cat: link: No such file/s,
    );
    expect(await sh('ls -A ~ work | grep -c -e hurt$ -e parts')).toBe('0');
  });

  it('are used as they are by the same task, and by another one while the host has the same', async () => {
    const project = join(root, 'app');
    await mkdir(project);
    await writeFile(join(project, 'a.txt'), 'one');
    await copy(project);
    await sh('echo two > work/app/a.txt');
    expect(await copy(project)).toEqual([expect.stringContaining('work/app (as this task left it)')]);
    const other = newId();
    expect(await copy(project, other)).toEqual([expect.stringContaining('work/app (from an earlier task')]);
    await writeFile(join(project, 'a.txt'), 'three');
    expect(await copy(project, other)).toEqual([expect.stringContaining('work/app-2 (as it is now)')]);
    expect(await sh('cat work/app/a.txt work/app-2/a.txt')).toBe('two\nthree');
  });

  it('leave out what tools have made where they are too large with it, and are refused where they still are', async () => {
    const project = join(root, 'large');
    await mkdir(join(project, 'node_modules'), { recursive: true });
    await writeFile(join(project, 'index.js'), '1');
    await writeFile(join(project, 'node_modules', 'big'), Buffer.alloc(COPY_MAX_BYTES));
    expect(await copy(project)).toEqual([expect.stringMatching(/work\/large .*Left out: node_modules/)]);
    expect(await sh('ls -A work/large')).toBe('index.js');
    await writeFile(join(project, 'big'), Buffer.alloc(COPY_MAX_BYTES));
    expect(await copy(project, newId())).toEqual([
      expect.stringMatching(
        /^Not copied into the VM: .*more than 64 MiB or 20000 files; allow a smaller folder\.$/,
      ),
    ]);
  });

  it("are not copied when they hold the server's own, are gone or have become links", async () => {
    const own = join(root, 'own');
    await mkdir(join(own, 'keys'), { recursive: true });
    await symlink(own, join(root, 'by-link'));
    expect(await copy(own, taskId, [join(own, 'keys')])).toEqual([
      expect.stringContaining('must not be seen'),
    ]);
    expect(await copy(join(root, 'by-link'))).toEqual([expect.stringContaining('has become a link')]);
    expect(await copy(join(root, 'gone'))).toEqual([expect.stringContaining('does not exist')]);
  });

  it('come without what only their owner may read, and say so', async (context) => {
    context.skip(process.getuid?.() !== 0, 'only a server that runs as root reads more than others');
    const project = join(root, 'private');
    await mkdir(project);
    await writeFile(join(project, 'open'), 'x');
    await writeFile(join(project, '.env'), 'TOKEN=1', { mode: 0o600 });
    expect(await copy(project)).toEqual([
      expect.stringContaining('Left out: one entry that only its owner may read.'),
    ]);
    expect(await sh('ls -A work/private')).toBe('open');
  });
});
