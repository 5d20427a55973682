import type { GuestSession, VmGuestSession } from '@vitto/contracts';

/**
 * The same guest with another working folder: its `home` is the folder, and a relative path begins there. Absolute
 * paths, and those that begin with `~`, stay as they are. The folder must be there.
 */
export function workInFolder(guest: GuestSession, folder: string): GuestSession {
  const inside = (path: string) => (/^[/~]/.test(path) ? path : `${folder}/${path}`);
  const at = <Request extends { path: string }>(request: Request): Request => ({
    ...request,
    path: inside(request.path),
  });
  const from = <Request extends { cwd?: string }>(request: Request): Request => ({
    ...request,
    cwd: request.cwd === undefined ? folder : inside(request.cwd),
  });
  const session: GuestSession = {
    id: guest.id,
    kind: guest.kind,
    home: folder,
    exec: (request) => guest.exec(from(request)),
    readFile: (request) => guest.readFile(at(request)),
    writeFile: (request) => guest.writeFile(at(request)),
    listFiles: (request) => guest.listFiles(at(request)),
    search: (request) => guest.search(at(request)),
    startProcess: (request) => guest.startProcess(from(request)),
    readProcess: (request) => guest.readProcess(request),
    stopProcess: (request) => guest.stopProcess(request),
  };
  if (guest.kind !== 'vm') return session;
  const vm: VmGuestSession = {
    ...session,
    kind: 'vm',
    readCommand: (request) => (guest as VmGuestSession).readCommand(request),
  };
  return vm;
}
