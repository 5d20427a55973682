import { Readable } from 'node:stream';
import { artifact } from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { findArtifact, readArtifact, type RunDependencies } from '../../runs/index.ts';
import { readRange, toArtifactHeaders, type ByteRange } from './artifact-headers.ts';
import { idParams, viewerOf, type WebApp } from './web-app.ts';

/** As large as the parts in the store. */
const PART_BYTES = 256 * 1024;

export function addArtifactRoutes(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  const tags = ['artifacts'];

  app.get(
    '/api/artifacts/:id',
    { schema: { tags, summary: 'What an artifact is', params: idParams, response: { 200: artifact } } },
    async (request) => {
      const found = await findArtifact(sql, viewerOf(request).userId, request.params.id);
      if (found === null) throw notFound('artifact');
      return found;
    },
  );

  app.get(
    '/api/artifacts/:id/content',
    {
      schema: {
        tags,
        summary: 'The bytes of an artifact',
        description: 'Takes a single `Range`. Saved by browsers, except plain pictures and plain text.',
        params: idParams,
      },
    },
    async (request, reply) => {
      const { userId } = viewerOf(request);
      const { id } = request.params;
      const found = await findArtifact(sql, userId, id);
      if (found === null) throw notFound('artifact');
      const range = readRange(request.headers.range, found.bytes);
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${found.bytes}`);
        throw new AppError('artifact.range', `The artifact has ${found.bytes} bytes.`, { status: 416 });
      }
      void reply.headers(toArtifactHeaders(found));
      const part = range ?? { start: 0, end: found.bytes - 1 };
      if (range !== null) {
        void reply.code(206).header('content-range', `bytes ${part.start}-${part.end}/${found.bytes}`);
      }
      void reply.header('content-length', part.end - part.start + 1);
      return reply.send(Readable.from(readParts(sql, userId, id, part), { objectMode: false }));
    },
  );
}

/** A part at a time, read when the client has taken the last: memory stays at one part a download. */
async function* readParts(
  sql: RunDependencies['database']['pool'],
  userId: string,
  id: string,
  range: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let offset = range.start; offset <= range.end;) {
    const part = await readArtifact(sql, userId, id, offset, Math.min(PART_BYTES, range.end + 1 - offset));
    if (part === null || part.bytes.length === 0) {
      throw new Error('the artifact was deleted while it was sent');
    }
    yield part.bytes;
    offset += part.bytes.length;
  }
}
