import type { CreatedSandbox } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import type { AcquireRequest } from '../host/sandbox-host.ts';
import { findMachineRow } from './find-machine-row.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionTable } from './session-table.ts';
import type { SessionDeps } from './session-types.ts';
import type { Acquired } from './session-vm.ts';
import { DISK_GONE } from './start-machine.ts';
import { untilAborted } from './until-aborted.ts';

const HOST_IS_FULL = 'All machines of this host are in use.';
const MACHINE_IS_TAKEN = 'Another task of yours has the machine.';
/** How often an acquire begins again whose machine went away under it. */
const TRIES = 5;

/** A session for a task's claim; see `SandboxHost.acquire`. */
export async function acquireSession(
  deps: SessionDeps,
  table: SessionTable,
  request: AcquireRequest,
): Promise<CreatedSandbox> {
  const began = deps.clock.monotonic();
  await refuseWithoutVms(deps);
  const notices: string[] = [];
  for (let tries = 1; ; tries += 1) {
    request.signal?.throwIfAborted();
    const session = table.open(await findMachineRow(deps, request, notices));
    try {
      const acquired = await come(session, request);
      if (acquired === null) continue;
      return {
        sandboxId: session.id,
        restored: acquired.origin === 'user-snapshot',
        from: acquired.origin,
        acquireTimeMs: Math.round(deps.clock.monotonic() - began),
        notices: [...notices, ...acquired.notices],
      };
    } catch (error) {
      if (tries === TRIES || !(await mayTryAgain(session, error, notices))) throw error;
    } finally {
      table.prune(session);
    }
  }
}

async function refuseWithoutVms({ provider }: SessionDeps): Promise<void> {
  const { available, reason, hint } = await provider.health();
  if (available) return;
  throw new AppError('sandbox.unavailable', reason ?? 'No VM can be had here.', {
    status: 503,
    ...(hint === null ? {} : { hint }),
  });
}

/** Waits until the session runs and claims it; `null` when it went away in between. */
async function come(session: LiveSession, request: AcquireRequest): Promise<Acquired | null> {
  const { taskId, signal, onWaiting } = request;
  const letGo = session.hold((place) => onWaiting?.({ place, reason: HOST_IS_FULL }));
  const tellTurn = (place: number): void => onWaiting?.({ place, reason: MACHINE_IS_TAKEN });
  try {
    for (;;) {
      await session.claims.waitForTurn(taskId, tellTurn, signal);
      const acquired = await untilAborted(session.ensureRunning(), signal);
      const outcome = await session.claim(request);
      if (outcome !== 'taken') return outcome === 'claimed' ? acquired : null;
    }
  } finally {
    letGo();
  }
}

async function mayTryAgain(session: LiveSession, error: unknown, notices: string[]): Promise<boolean> {
  if (!(error instanceof AppError)) return false;
  if (error.code === DISK_GONE) {
    await session.forget();
    notices.push('The disk of your machine was gone from its host. This is a new one.');
    return true;
  }
  // Forgotten by another request in the meantime.
  return error.code === 'sandbox.not-found';
}
