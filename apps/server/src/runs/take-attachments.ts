import type { ArtifactRef } from '@vitto/contracts';
import { takeArtifacts } from '../engine/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Sql } from '../kernel/database/database.ts';

/**
 * The files of a message, which belong to its task from now on.
 * @throws AppError `attachment.not-found` for one that is not whole, not there, or somebody else's.
 */
export async function takeAttachments(
  sql: Sql,
  owner: { userId: string; taskId: string },
  ids: string[] = [],
): Promise<ArtifactRef[]> {
  const found = await takeArtifacts(sql, owner, [...new Set(ids)]);
  const missing = found.flatMap((ref, index) => (ref === null ? [index] : []));
  if (missing.length === 0) return found.filter((ref) => ref !== null);
  throw new AppError('attachment.not-found', 'A file of this message is not there.', {
    status: 422,
    hint: 'Upload it with POST /api/attachments and send the id of the answer. Files that are not sent within a day are removed.',
    errors: missing.map((index) => ({
      path: `attachments.${index}`,
      message: 'no file of yours has this id',
    })),
  });
}
