import { GuestError, type EventPayload, type NewEvent } from '@vitto/contracts';
import { describeError } from '../../kernel/app-error.ts';
import { isDatabaseAway } from '../../kernel/database/database.ts';
import { LostLease } from '../journal/journal.store.ts';
import type { ClaimedGuest, GuestHold } from './guest-claim.ts';
import type { Run } from './run-context.ts';
import { watchGuest } from './watch-guest.ts';

/** A VM that was not called for so long is claimed again before the next call, so that the claim does not run out. */
const RENEW_AFTER_MS = 60_000;

/**
 * The task's guest, claimed at the first need of a run and then kept; again when it was lost or not used for a while.
 * Its time is not the tool's: a machine that boots takes longer than a file may.
 * @throws LostLease, the signal's reason.
 */
export async function holdGuest(run: Run): Promise<GuestHold> {
  const held = await run.guest;
  if (held?.kind === 'held' && !isStale(run, held)) return held;
  const claiming = claim(run).catch((error: unknown) => {
    run.guest = null;
    throw error;
  });
  run.guest = claiming;
  return claiming;
}

/** For a call that is under way: what is held, or a claim now. @throws GuestError */
export async function guestOfCall(run: Run): Promise<Extract<GuestHold, { kind: 'held' }>> {
  const hold = await (run.guest ?? holdGuest(run));
  if (hold.kind === 'held') return hold;
  if (hold.kind === 'refused') throw hold.error;
  throw new GuestError(
    'unavailable',
    hold.reason,
    'The user is asked about the process sandbox with the next command.',
  );
}

function isStale(run: Run, held: Extract<GuestHold, { kind: 'held' }>): boolean {
  return held.vm !== null && run.deps.clock.monotonic() - run.guestUsedAt > RENEW_AFTER_MS;
}

async function claim(run: Run): Promise<GuestHold> {
  const { vm, template, isDegraded, degradation, mayDegrade } = run.state;
  const decided = degradation?.decision === 'pending' ? null : (degradation?.decision ?? null);
  try {
    const claimed = await run.deps.claimGuest({
      vm,
      template,
      isDegraded,
      degradation: decided ?? (mayDegrade ? 'beforehand' : null),
      onWaiting: (waiting) => {
        // A lost lease shows at the next write of the loop itself.
        run.journal.append([{ type: 'vm.waiting', payload: waiting }]).catch(() => undefined);
      },
      signal: run.signal,
    });
    if (claimed.kind === 'ask') return { ...claimed, kind: 'asks' };
    return await keep(run, claimed);
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof LostLease || isDatabaseAway(error)) throw error;
    if (error instanceof GuestError) return { kind: 'refused', error };
    run.deps.logger.error({ err: error, taskId: run.task.id }, 'the sandbox has a defect');
    const reason = `The sandbox failed: ${describeError(error)}`;
    return { kind: 'refused', error: new GuestError('unavailable', reason) };
  }
}

/** Journals how the guest came, before anything runs in it. */
async function keep(run: Run, claimed: ClaimedGuest): Promise<GuestHold> {
  const { state, journal } = run;
  const notices = [...claimed.notices];
  if (claimed.vm !== null) {
    notices.push(...describeChange(run, claimed.vm));
    const isSame = state.isVmHeld && claimed.vm.from === 'session' && state.vm?.vmId === claimed.vm.vmId;
    const events: NewEvent[] = isSame ? [] : [{ type: 'vm.acquired', payload: claimed.vm }];
    if (state.isVmHeld && !isSame) events.unshift(gone(state.vm?.vmId, claimed.vm));
    if (events.length > 0) await journal.append(events);
  } else if (claimed.degradedReason !== null && !state.isDegraded) {
    await journal.append([
      { type: 'vm.degraded', payload: { reason: claimed.degradedReason, fallbackTier: 'process-sandbox' } },
    ]);
  }
  run.guestUsedAt = run.deps.clock.monotonic();
  const session = watchGuest(claimed.session, {
    onCall: () => {
      run.guestUsedAt = run.deps.clock.monotonic();
    },
    onLost: (reason) => noteLoss(run, claimed.session.id, reason),
  });
  return { kind: 'held', session, vm: claimed.vm, notices };
}

/** The next call claims anew. Of calls side by side that find the same machine gone, one says it. */
async function noteLoss(run: Run, id: string, reason: string): Promise<void> {
  const held = await run.guest;
  if (held?.kind !== 'held' || held.session.id !== id || held.vm === null || !run.state.isVmHeld) return;
  run.guest = null;
  await run.journal.append([lost(id, reason)]);
}

/** The host had let go of it while the task made no call. */
function gone(vmId: string | undefined, now: EventPayload<'vm.acquired'>): NewEvent {
  if (isStartedAnew(now)) return lost(vmId, 'it had ended');
  const reason = 'it was put aside while the task did not use it';
  return { type: 'vm.released', payload: { ...(vmId === undefined ? {} : { vmId }), reason } };
}

function lost(vmId: string | undefined, reason: string): NewEvent {
  return { type: 'vm.lost', payload: { ...(vmId === undefined ? {} : { vmId }), reason } };
}

/** No memory of an earlier machine is in it: what ran there has ended. */
function isStartedAnew(vm: EventPayload<'vm.acquired'>): boolean {
  return vm.from === 'user-disk' || vm.from === 'base-snapshot' || vm.from === 'boot';
}

/** What the model must know of a machine that is not as it left it. */
function describeChange(run: Run, vm: EventPayload<'vm.acquired'>): string[] {
  const { state } = run;
  if (state.vm === null) return [];
  switch (vm.from) {
    case 'user-disk':
      return [
        'The machine was started anew from its disk: files that were written are there, programs that ran have ended.',
      ];
    case 'base-snapshot':
    case 'boot':
      return ['This is a new machine: files and programs of the earlier one are not there.'];
    case 'user-snapshot':
      if (state.isVmLost)
        return [
          'The machine was lost and restored as it was when it was last put aside: what was done in it since is gone.',
        ];
      // One that the task has let go of itself is no surprise.
      return state.isVmHeld
        ? ['The machine was put aside meanwhile and came back as it was, with its files and programs.']
        : [];
    default:
      return [];
  }
}
