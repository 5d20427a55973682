import { AppError } from '../../kernel/app-error.ts';
import type { AcquireRequest } from '../host/sandbox-host.ts';
import { createMachine, findMachine, setMachineAside, type MachineRow } from './machine.store.ts';
import type { SessionDeps } from './session-types.ts';

/** How often it is looked again when somebody else makes the row at the same moment. */
const TRIES = 5;

/**
 * The row of the user's machine on this host, made when there is none. What the user should know of it is added to
 * `notices`. @throws AppError `sandbox.elsewhere`, `sandbox.image-missing`, `sandbox.image-building`
 */
export async function findMachineRow(
  deps: SessionDeps,
  { userId, template }: Pick<AcquireRequest, 'userId' | 'template'>,
  notices: string[],
): Promise<MachineRow> {
  const { database, hostId } = deps;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const row = await findMachine(database, userId, template);
    if (row?.hostId === hostId) return row;
    if (row?.isHostAlive === true) throw elsewhere(row.hostId);
    if (row !== null && (await setMachineAside(database, row.id)))
      notices.push(
        'The host of your machine cannot be reached. This is a new one, without the files of the one there.',
      );
    const sizes = await deps.sizesOf(template);
    // Refuses before a row is there when there is no image to start from.
    await deps.findImage(template, null);
    await createMachine(database, { userId, template, hostId, ...sizes });
  }
  throw new AppError('sandbox.unavailable', 'The machine could not be made.', { status: 503 });
}

function elsewhere(hostId: string): AppError {
  return new AppError('sandbox.elsewhere', 'The machine of this user is on another host.', {
    status: 409,
    details: { hostId },
    hint: 'Ask that host.',
  });
}
