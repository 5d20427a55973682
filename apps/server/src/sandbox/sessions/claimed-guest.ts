import type { SandboxCaller, VmGuestSession } from '@vitto/contracts';
import { cutText } from '../../kernel/text/cut.ts';
import type { LiveSession } from './live-session.ts';
import { sessionLost } from './session-calls.ts';

/** The home of a guest's user (`images/`). */
const GUEST_HOME = '/home/user';
const SHOWN_COMMAND = 200;

/**
 * Calls of one task into its session. Whether it holds a claim, and whether another worker has taken the task over, is
 * looked at with every call.
 */
export function claimedGuest(
  sandboxId: string,
  caller: SandboxCaller,
  find: () => LiveSession | null,
): VmGuestSession {
  const call = async <T>(work: (guest: VmGuestSession) => Promise<T>, command?: string): Promise<T> => {
    const session = find();
    if (session === null) throw sessionLost('it does not run');
    const shown = command === undefined ? null : cutText(command, SHOWN_COMMAND);
    return session.call(caller, shown, (agent) => work(agent.guestOf(caller.taskId)));
  };
  return {
    id: sandboxId,
    kind: 'vm',
    home: GUEST_HOME,
    exec: (request) => call((guest) => guest.exec(request), request.command),
    readFile: (request) => call((guest) => guest.readFile(request)),
    writeFile: (request) => call((guest) => guest.writeFile(request)),
    listFiles: (request) => call((guest) => guest.listFiles(request)),
    search: (request) => call((guest) => guest.search(request), `search ${request.pattern}`),
    startProcess: (request) => call((guest) => guest.startProcess(request)),
    readProcess: (request) => call((guest) => guest.readProcess(request)),
    stopProcess: (request) => call((guest) => guest.stopProcess(request)),
    readCommand: (request) => call((guest) => guest.readCommand(request)),
  };
}
