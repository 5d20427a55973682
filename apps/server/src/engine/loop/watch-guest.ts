import { GuestError, type GuestSession, type VmGuestSession } from '@vitto/contracts';

/** The same guest; `onCall` hears of each call, `onLost` of the one that found the guest gone, before its caller does. */
export function watchGuest(
  guest: GuestSession,
  hear: { onCall: () => void; onLost: (reason: string) => Promise<void> },
): GuestSession {
  const watched = <Request, Result>(call: (request: Request) => Promise<Result>) => {
    return async (request: Request): Promise<Result> => {
      hear.onCall();
      try {
        return await call(request);
      } catch (error) {
        if (error instanceof GuestError && error.code === 'session-lost') await hear.onLost(error.message);
        throw error;
      } finally {
        hear.onCall();
      }
    };
  };
  const { id, kind, home } = guest;
  const session: GuestSession = {
    id,
    kind,
    home,
    exec: watched((request) => guest.exec(request)),
    readFile: watched((request) => guest.readFile(request)),
    writeFile: watched((request) => guest.writeFile(request)),
    listFiles: watched((request) => guest.listFiles(request)),
    search: watched((request) => guest.search(request)),
    startProcess: watched((request) => guest.startProcess(request)),
    readProcess: watched((request) => guest.readProcess(request)),
    stopProcess: watched((request) => guest.stopProcess(request)),
  };
  if (!isVm(guest)) return session;
  const vm: VmGuestSession = {
    ...session,
    kind: 'vm',
    readCommand: watched((request) => guest.readCommand(request)),
  };
  return vm;
}

export function isVm(guest: GuestSession): guest is VmGuestSession {
  return guest.kind === 'vm';
}
