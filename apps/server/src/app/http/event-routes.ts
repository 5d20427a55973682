import { eventPage, eventQuery, isEndState, type EventEnvelope } from '@vitto/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idParams, viewerOf, type WebApp } from '../../channels/index.ts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { findTask, type RunDependencies } from '../../runs/index.ts';
import type { EventHub, EventReads } from './streams/event-hub.ts';

const query = eventQuery.extend({
  /** In place of the `Last-Event-ID` header, for clients that cannot set it. */
  lastEventId: z.string().max(100).optional(),
});

const DESCRIPTION =
  'With `Accept: text/event-stream` a Server-Sent Events stream, else a page of JSON. ' +
  'In the stream `id` is the journal position and `data` the event envelope; events have no `event:` name (the type stands in the envelope), so browsers get them as `message`. ' +
  '`Last-Event-ID` (or `?lastEventId=`) goes on after that position without a gap or a repeat. ' +
  'A position beyond the journal is answered by an event named `resync` with the current `lastPosition`: load what you show anew; the stream goes on from there. ' +
  'A comment comes every 15 s. A client that takes nothing for 30 s is dropped and resumes.';

/** The two streams and their pages of JSON. */
export function addEventRoutes(
  app: WebApp,
  deps: { hub: EventHub; reads: EventReads; runs: RunDependencies },
): void {
  const { hub, reads, runs } = deps;

  app.get(
    '/api/events',
    {
      schema: {
        tags: ['events'],
        summary: 'All of my events',
        description: `${DESCRIPTION} Without a last id this stream begins with what happens from now on.`,
        querystring: query,
        response: { 200: eventPage },
      },
    },
    async (request, reply) => {
      const { userId, credential } = viewerOf(request);
      const lastPosition = await reads.readLastPosition(userId);
      if (!wantsStream(request)) {
        const { after, limit } = request.query;
        return toEventPage(await reads.readUserEvents(userId, after, limit), limit, lastPosition, after);
      }
      const start = chooseStart(request, lastPosition, lastPosition);
      hub.open(reply, { userId, credential, taskId: null, isOver: false, lastPosition, ...start });
      return reply;
    },
  );

  app.get(
    '/api/tasks/:id/events',
    {
      schema: {
        tags: ['events'],
        summary: 'The events of one task',
        description:
          `${DESCRIPTION} Without a last id this stream begins with the task's first event. It ends after the task's last one; ` +
          'who comes back to an ended task with nothing left to read gets 204, at which an EventSource stops.',
        params: idParams,
        querystring: query,
        response: {
          200: eventPage,
          204: z.undefined().describe('The task has ended and you have all of it.'),
        },
      },
    },
    async (request, reply) => {
      const { userId, credential } = viewerOf(request);
      const taskId = request.params.id;
      const lastPosition = await reads.readLastPosition(userId);
      const task = await findTask(runs.database.pool, userId, taskId);
      if (task === null) throw notFound('task');
      if (!wantsStream(request)) {
        const { after, limit } = request.query;
        const events = await reads.readTaskEvents(userId, taskId, after, limit);
        return toEventPage(events, limit, lastPosition, after);
      }
      const start = chooseStart(request, lastPosition, 0);
      const isOver = isEndState(task.state);
      if (isOver && !start.isResync && (await isAllRead(reads, userId, taskId, start.position))) {
        return sendNothing(reply);
      }
      hub.open(reply, { userId, credential, taskId, isOver, lastPosition, ...start });
      return reply;
    },
  );
}

function wantsStream(request: FastifyRequest): boolean {
  return request.headers.accept?.toLowerCase().includes('text/event-stream') ?? false;
}

function toEventPage(items: EventEnvelope[], limit: number, lastPosition: number, after: number) {
  const last = items.at(-1)?.position ?? after;
  return { items, lastPosition: items.length === limit ? last : Math.max(last, lastPosition) };
}

async function isAllRead(
  reads: EventReads,
  userId: string,
  taskId: string,
  position: number,
): Promise<boolean> {
  return (await reads.readTaskEvents(userId, taskId, position, 1)).length === 0;
}

function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(204).send();
}

/**
 * Where a stream begins, and what it says first: how long to wait before coming back, and the id from which to go on
 * even when the connection breaks before the first event.
 * @throws AppError `stream.bad-last-event-id` (400) for what is no position.
 */
function chooseStart(
  request: FastifyRequest<{ Querystring: z.infer<typeof query> }>,
  lastPosition: number,
  fallback: number,
): { position: number; preamble: string; isResync: boolean } {
  const header = request.headers['last-event-id'];
  const asked = (typeof header === 'string' && header !== '' ? header : request.query.lastEventId) ?? '';
  if (asked !== '' && !/^\d{1,100}$/.test(asked)) {
    throw new AppError('stream.bad-last-event-id', 'The last event id is not a position of the journal.', {
      status: 400,
      hint: 'Send the last `id` that the stream gave you, or none to begin anew.',
    });
  }
  const position = asked === '' ? fallback : Number(asked);
  // Not all at the same moment: a thousand clients come back spread over two seconds.
  const retry = `retry: ${1_000 + Math.floor(Math.random() * 2_000)}\n`;
  if (position <= lastPosition) {
    return { position, preamble: `${retry}id: ${position}\n\n`, isResync: false };
  }
  const resync = `event: resync\nid: ${lastPosition}\ndata: ${JSON.stringify({ lastPosition })}\n\n`;
  return { position: lastPosition, preamble: `${retry}${resync}`, isResync: true };
}
