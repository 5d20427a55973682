import { join } from 'node:path';
import { describeError } from '../../kernel/app-error.ts';
import type { VmSpec } from '../providers/sandbox-provider.ts';
import { listClaims, type ClaimRow } from './claim.store.ts';
import type { LiveSession } from './live-session.ts';
import { deleteMachine, listMachines, markEnded, type MachineRow } from './machine.store.ts';
import { makeGuestIdentity } from './session-agent.ts';
import type { SessionDeps } from './session-types.ts';

/**
 * Settles what an earlier process of this host has left: takes up the VMs that run, with the claims on them, ends those
 * that nobody can use, and writes down of the others how they ended.
 */
export async function adoptMachines(
  deps: SessionDeps,
  open: (row: MachineRow) => LiveSession,
): Promise<void> {
  const rows = await listMachines(deps.database, deps.hostId, null);
  const claims = Map.groupBy(await listClaims(deps.database, deps.hostId), (claim) => claim.sessionId);
  const found = await deps.provider.list();
  const wanted = new Set(rows.map((row) => row.vmId));
  const strays = found.filter((vm) => !wanted.has(vm.vmId));
  const settled = await Promise.allSettled([
    ...strays.map((vm) => deps.provider.destroy(vm.vmId)),
    ...rows
      .filter((row) => row.vmId !== null)
      .map((row) => {
        const isRunning = found.some((vm) => vm.vmId === row.vmId && vm.isRunning);
        return settleMachine(deps, open, { row, claims: claims.get(row.id) ?? [], isRunning });
      }),
  ]);
  for (const one of settled) {
    // Its next start ends what is left of it first.
    if (one.status === 'rejected') deps.logger.error({ err: one.reason }, 'a VM could not be settled');
  }
}

interface Left {
  row: MachineRow;
  claims: ClaimRow[];
  isRunning: boolean;
}

async function settleMachine(
  deps: SessionDeps,
  open: (row: MachineRow) => LiveSession,
  left: Left,
): Promise<void> {
  const { row } = left;
  if (row.state === 'starting') return settleStart(deps, row);
  let problem = 'its host ended while it was suspended';
  if (row.state === 'running') {
    problem = 'it ended while its host was away';
    if (left.isRunning) {
      try {
        await takeUp(deps, open, left);
        return;
      } catch (error) {
        problem = `it did not answer when its host came back (${describeError(error)})`;
        deps.logger.warn({ err: error, sandboxId: row.id }, 'a VM could not be taken up');
      }
    }
  }
  await settleEnd(deps, left, problem);
}

/** Nobody had it yet. What it was made from is as it was. */
async function settleStart(deps: SessionDeps, row: MachineRow): Promise<void> {
  const { database, provider, hostId } = deps;
  await provider.destroy(row.vmId as string);
  await markEnded(database, heldBy(deps, row), { snapshot: 'unchanged', lostReason: null, diskBytes: null });
  if (row.hasStarted) return;
  await provider.forget(join(deps.machinesFolder, row.id));
  await deleteMachine(database, { id: row.id, hostId, userId: row.userId });
}

async function takeUp(
  deps: SessionDeps,
  open: (row: MachineRow) => LiveSession,
  { row, claims }: Left,
): Promise<void> {
  const spec = await specOf(deps, row);
  const vm = await deps.provider.adopt(spec);
  if (vm === null) throw new Error('it has ended');
  const agent = await deps.connectAgent(vm, { sandboxId: row.id, userId: row.userId });
  try {
    // Its host key is nowhere but in the guest: it gets a new one, so that people can be told which it is.
    const identity = makeGuestIdentity();
    await agent.resume(identity);
    const session = open(row);
    session.claims.load(claims);
    await session.takeUp({ vm, agent, spec, sshHostPublicKey: identity.hostPublicKey });
  } catch (error) {
    agent.close();
    throw error;
  }
}

/** The snapshot was complete when it is another one than was known; else only the disk is left. */
async function settleEnd(deps: SessionDeps, { row, claims }: Left, problem: string): Promise<void> {
  await deps.provider.destroy(row.vmId as string);
  const snapshot = await specOf(deps, row)
    .then((spec) => deps.provider.readSnapshot(spec))
    .catch(() => null);
  const isNew = snapshot !== null && snapshot.id !== row.snapshotId;
  const end = isNew ? { snapshot, lostReason: null } : { snapshot: null, lostReason: problem };
  await markEnded(deps.database, heldBy(deps, row), { ...end, diskBytes: null });
  for (const { taskId, userId } of claims) {
    const how = isNew ? 'released' : 'lost';
    deps.events.onClaimEnded?.({ sandboxId: row.id, userId, taskId, how, reason: problem });
  }
}

async function specOf(deps: SessionDeps, row: MachineRow): Promise<VmSpec> {
  return {
    vmId: row.vmId as string,
    machineFolder: join(deps.machinesFolder, row.id),
    image: await deps.findImage(row.template, row.imageHash),
    memoryMib: row.memoryMib,
    cpus: row.cpus,
    diskGib: row.diskGib,
    userNumber: row.userNumber,
  };
}

function heldBy(deps: SessionDeps, row: MachineRow): { id: string; hostId: string; holder: string } {
  return { id: row.id, hostId: deps.hostId, holder: deps.holder };
}
