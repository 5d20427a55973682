import { createPushSubscription, pushSetup, pushSubscription } from '@vitto/contracts';
import { z } from 'zod';
import { idParams, nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import { readSettings } from '../../identity/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import { deletePushSubscription, listPushSubscriptions, type Notices } from '../../notices/index.ts';

/** Browsers that want to be called although no page of Vitto is open (Web Push). */
export function addPushRoutes(app: WebApp, deps: { database: Database; notices: Notices }): void {
  const { database, notices } = deps;
  const sql = database.pool;
  const tags = ['notifications'];

  app.get(
    '/api/push-subscriptions',
    {
      schema: {
        tags,
        summary: 'The key to subscribe with, and my browsers that are subscribed',
        response: { 200: pushSetup },
      },
    },
    async (request) => ({
      publicKey: await notices.push.readKey(),
      items: await listPushSubscriptions(sql, viewerOf(request).userId),
    }),
  );

  app.post(
    '/api/push-subscriptions',
    {
      config: { audit: { action: 'push.subscribed', object: 'push-subscription' } },
      schema: {
        tags,
        summary: 'Subscribe this browser',
        body: createPushSubscription,
        response: { 201: pushSubscription },
      },
    },
    async (request, reply) => {
      const browser = nameBrowser(request.headers['user-agent'] ?? '');
      const kept = await notices.push.subscribe(viewerOf(request).userId, request.body, browser);
      await notices.refresh();
      return reply.code(201).send(kept);
    },
  );

  app.delete(
    '/api/push-subscriptions/:id',
    {
      config: { audit: { action: 'push.unsubscribed', object: 'push-subscription' } },
      schema: { tags, summary: 'Unsubscribe a browser', params: idParams, response: { 204: nothing } },
    },
    async (request, reply) => {
      await deletePushSubscription(sql, viewerOf(request).userId, request.params.id);
      return reply.code(204).send(undefined);
    },
  );

  app.post(
    '/api/push-subscriptions/:id/test',
    {
      config: { audit: { action: 'push.tested', object: 'push-subscription' } },
      schema: {
        tags,
        summary: 'Send a notification to a browser now',
        params: idParams,
        body: z.strictObject({}).nullish(),
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      const { userId } = viewerOf(request);
      const { language } = await readSettings(database, userId);
      await notices.push.test(userId, request.params.id, TEST_MESSAGE[language ?? 'en']);
      return reply.code(204).send(undefined);
    },
  );
}

const TEST = { path: '/vitto', tag: 'test', isUrgent: true };
const TEST_MESSAGE = {
  en: { ...TEST, title: 'It works', body: 'I can reach you here.' },
  es: { ...TEST, title: 'Funciona', body: 'Aquí puedo avisarte.' },
};

/** Enough of the browser's name to tell one from another. */
function nameBrowser(userAgent: string): string {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\/(\d+)/.exec(userAgent);
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };
  const name = browser === null ? 'Browser' : `${names[browser[1] ?? ''] ?? browser[1]} ${browser[2]}`;
  return system === undefined ? name : `${name}, ${system.replace('Mac OS X', 'macOS')}`;
}
