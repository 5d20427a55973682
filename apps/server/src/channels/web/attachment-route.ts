import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { artifact, ATTACHMENT_MAX_BYTES, attachmentQuery, type ArtifactRef } from '@vitto/contracts';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { toTitle } from '../../kernel/text/cut.ts';
import { deleteUnsentUploads, findArtifact, openArtifacts, type RunDependencies } from '../../runs/index.ts';
import { viewerOf, type WebApp } from './web-app.ts';

/** How long an upload waits for the message that it is for, in hours. */
const KEEP_UNSENT_HOURS = 24;

/** Uploads: the body is the file itself. They have a scope of their own, where bodies are no JSON. */
export function addAttachmentRoute(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  void app.register((instance, _options, done) => {
    const scope = instance.withTypeProvider<ZodTypeProvider>();
    scope.removeAllContentTypeParsers();
    // The body stays in the socket until the handler takes it, a part at a time.
    scope.addContentTypeParser('application/octet-stream', (_request, _payload, parsed) => parsed(null));
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(notBytes()));
    scope.post(
      '/api/attachments',
      {
        config: {
          audit: {
            action: 'attachment.uploaded',
            object: 'artifact',
            detail: (_, answer) => ({ bytes: Number(answer['bytes']) }),
          },
        },
        schema: {
          tags: ['artifacts'],
          summary: 'Upload a file for a message: the body is the file, at most 20 MB',
          description:
            'Send it as `application/octet-stream`; name and media type stand in the query. Give the id of the answer with the message (`attachments`) within a day.',
          querystring: attachmentQuery,
          response: { 201: artifact },
        },
      },
      async (request, reply) => {
        const { userId } = viewerOf(request);
        if (Number(request.headers['content-length'] ?? 0) > ATTACHMENT_MAX_BYTES) {
          // What it still sends is not read.
          void reply.header('connection', 'close');
          throw tooLarge();
        }
        await deleteUnsentUploads(sql, userId, KEEP_UNSENT_HOURS);
        const { name, mediaType } = request.query;
        const kept = await keepUpload(runs, userId, { name: toFileName(name), mediaType }, request.raw);
        const found = await findArtifact(sql, userId, kept.id);
        if (found === null) throw notFound('artifact');
        return reply.code(201).send(found);
      },
    );
    done();
  });
}

/** Writes a body as it comes; one that breaks off or is too large leaves nothing behind. */
async function keepUpload(
  runs: RunDependencies,
  userId: string,
  file: { name: string; mediaType: string },
  body: Readable & Partial<IncomingMessage>,
): Promise<ArtifactRef> {
  const artifacts = openArtifacts(runs.database.pool, { userId, taskId: null });
  const writer = await artifacts.open(file.name, file.mediaType.toLowerCase());
  let bytes = 0;
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes > ATTACHMENT_MAX_BYTES) throw tooLarge();
      await writer.write(part);
    }
    return await writer.finish();
  } catch (error) {
    await writer.abort();
    if (body.complete === false && !(error instanceof AppError)) throw brokenOff();
    throw error;
  }
}

/** The last part of a path, on one line and without characters that do not show. */
function toFileName(name: string): string {
  return toTitle(name.split(/[/\\]/u).at(-1) ?? '', 200) || 'file';
}

function tooLarge(): AppError {
  return new AppError('attachment.too-large', 'The file is larger than 20 MB.', {
    status: 413,
    hint: 'Attach a smaller one, or allow the conversation to read the folder it lies in.',
  });
}

function notBytes(): AppError {
  return new AppError('request.media-type', 'The body of an upload is the file itself.', {
    status: 415,
    hint: 'Send it with `content-type: application/octet-stream`, and its own media type as `mediaType` in the query.',
  });
}

function brokenOff(): AppError {
  return new AppError('attachment.broken-off', 'The upload broke off before its end.', {
    status: 400,
    hint: 'Upload the file again.',
  });
}
