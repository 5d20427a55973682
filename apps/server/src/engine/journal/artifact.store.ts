import type { Artifact, ArtifactRef } from '@vitto/contracts';
import { newId } from '../../kernel/ids.ts';
import type { ArtifactAccess, ArtifactWriter } from '../tools/tool.ts';
import { toStorableText } from '../../kernel/text/storable.ts';
import type { Sql } from '../../kernel/database/database.ts';

const CHUNK_BYTES = 256 * 1024;
/** More of one output than this is not kept; the artifact says so. */
export const ARTIFACT_MAX_BYTES = 64 * 1024 * 1024;

/** Artifacts of one task and its user. Content lies in the database in parts: memory stays bounded, every process reads it. */
export function openArtifacts(sql: Sql, owner: { userId: string; taskId: string | null }): ArtifactAccess {
  const open = (name: string, mediaType: string) => openWriter(sql, owner, name, mediaType);
  return {
    open,
    save: async (name, mediaType, content) => {
      const writer = await open(name, mediaType);
      await writer.write(typeof content === 'string' ? Buffer.from(toStorableText(content)) : content);
      const { truncated: _, ...ref } = await writer.finish();
      return ref;
    },
    read: (id, offset, length) => readArtifact(sql, owner.userId, id, offset, length),
  };
}

async function openWriter(
  sql: Sql,
  owner: { userId: string; taskId: string | null },
  name: string,
  mediaType: string,
): Promise<ArtifactWriter> {
  const id = newId();
  await sql.query(
    'insert into vitto_artifacts (id, user_id, task_id, name, media_type) values ($1, $2, $3, $4, $5)',
    [id, owner.userId, owner.taskId, toStorableText(name), mediaType],
  );
  let buffer: Uint8Array[] = [];
  let buffered = 0;
  let written = 0;
  let index = 0;
  let truncated = false;
  const flush = async () => {
    if (buffered === 0) return;
    const content = Buffer.concat(buffer);
    buffer = [];
    buffered = 0;
    await sql.query(
      'insert into vitto_artifact_chunks (artifact_id, index, "offset", content) values ($1, $2, $3, $4)',
      [id, index, written, content],
    );
    index += 1;
    written += content.length;
  };
  return {
    write: async (bytes) => {
      let rest = bytes.subarray(0, Math.max(0, ARTIFACT_MAX_BYTES - written - buffered));
      if (rest.length < bytes.length) truncated = true;
      while (rest.length > 0) {
        const part = rest.subarray(0, CHUNK_BYTES - buffered);
        buffer.push(part.slice());
        buffered += part.length;
        rest = rest.subarray(part.length);
        if (buffered >= CHUNK_BYTES) await flush();
      }
    },
    finish: async () => {
      await flush();
      await sql.query(
        'update vitto_artifacts set bytes = $2, is_truncated = $3, is_complete = true where id = $1',
        [id, written, truncated],
      );
      return { id, name, mediaType, bytes: written, truncated };
    },
    abort: async () => {
      await sql.query('delete from vitto_artifacts where id = $1', [id]);
    },
  };
}

export async function findArtifact(sql: Sql, userId: string, id: string): Promise<Artifact | null> {
  const result = await sql.query(
    `select id, name, media_type as "mediaType", bytes::float8 as bytes, task_id as "taskId", created_at as "createdAt"
     from vitto_artifacts where id = $1 and user_id = $2 and is_complete`,
    [id, userId],
  );
  const row = result.rows[0] as (Omit<Artifact, 'createdAt'> & { createdAt: Date }) | undefined;
  return row === undefined ? null : { ...row, createdAt: row.createdAt.toISOString() };
}

/**
 * A user's artifacts by id, in the order of the ids; `null` for one that is not there. Those that no task has yet (a
 * file that was uploaded for a message) go with `taskId` from now on, and are deleted with it.
 */
export async function takeArtifacts(
  sql: Sql,
  owner: { userId: string; taskId: string },
  ids: string[],
): Promise<(ArtifactRef | null)[]> {
  if (ids.length === 0) return [];
  const result = await sql.query(
    `update vitto_artifacts set task_id = coalesce(task_id, $3)
     where id = any($1::uuid[]) and user_id = $2 and is_complete
     returning id, name, media_type as "mediaType", bytes::float8 as bytes`,
    [ids, owner.userId, owner.taskId],
  );
  const found = new Map((result.rows as ArtifactRef[]).map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** Deletes what a user has uploaded and not sent within so many hours. */
export async function deleteUnsentUploads(sql: Sql, userId: string, hours: number): Promise<void> {
  await sql.query(
    `delete from vitto_artifacts
     where task_id is null and user_id = $1 and created_at < clock_timestamp() - make_interval(hours => $2)`,
    [userId, hours],
  );
}

/** A part of an artifact's content; `null` when the user has none of that id. */
export async function readArtifact(
  sql: Sql,
  userId: string,
  id: string,
  offset: number,
  length: number,
): Promise<{ ref: ArtifactRef; bytes: Uint8Array } | null> {
  const found = await findArtifact(sql, userId, id);
  if (found === null) return null;
  const ref = { id: found.id, name: found.name, mediaType: found.mediaType, bytes: found.bytes };
  const result = await sql.query(
    `select "offset"::float8 as "offset", content from vitto_artifact_chunks
     where artifact_id = $1 and "offset" < $3 and "offset" + length(content) > $2 order by index`,
    [id, offset, offset + length],
  );
  const parts = (result.rows as { offset: number; content: Buffer }[]).map((chunk) =>
    chunk.content.subarray(Math.max(0, offset - chunk.offset), Math.max(0, offset + length - chunk.offset)),
  );
  return { ref, bytes: Buffer.concat(parts) };
}
