import {
  createPushSubscription,
  pushSetup,
  pushSubscription,
  type PushSubscription as Kept,
} from '@vitto/contracts';
import { z } from 'zod';
import type { ApiClient } from '../../api/client.ts';

/** Whether this browser may show notifications. `missing`: it cannot at all. */
export type Permission = 'granted' | 'denied' | 'default' | 'missing';

const nothing = z.unknown();
/** Remembers which of the subscriptions on the server is this browser's. */
const KEPT_ID = 'vitto.push-subscription';
const WANTED = 'vitto.notifications';

export function readPermission(): Permission {
  if (!('Notification' in window) || !('serviceWorker' in navigator)) return 'missing';
  return Notification.permission;
}

/** True when this person has switched notifications on in this browser. */
export function areNoticesWanted(): boolean {
  return localStorage.getItem(WANTED) === 'on' && readPermission() === 'granted';
}

/** True when the server calls this browser: the page itself then stays silent. */
export function isSubscribed(): boolean {
  return localStorage.getItem(KEPT_ID) !== null;
}

/** The worker that shows notifications; registered when somebody wants them, and not before. */
export async function openWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register('/service-worker.js');
  return navigator.serviceWorker.ready;
}

/**
 * Switches notifications on in this browser.
 * @returns `push`: also while no page is open. `page`: only while one is, since no push service can be reached.
 * @throws ApiError when the server does not take the subscription.
 */
export async function switchOn(client: ApiClient): Promise<'push' | 'page' | 'denied'> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  localStorage.setItem(WANTED, 'on');
  const worker = await openWorker();
  const { publicKey } = await readSetup(client);
  const subscription = await subscribe(worker, publicKey);
  if (subscription === null) return 'page';
  const kept = await client.send({
    method: 'POST',
    path: '/push-subscriptions',
    body: createPushSubscription.parse(subscription.toJSON()),
    schema: pushSubscription,
  });
  localStorage.setItem(KEPT_ID, kept.id);
  return 'push';
}

export async function switchOff(client: ApiClient): Promise<void> {
  localStorage.removeItem(WANTED);
  const id = localStorage.getItem(KEPT_ID);
  localStorage.removeItem(KEPT_ID);
  const worker = await navigator.serviceWorker.getRegistration();
  const subscription = await worker?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
  if (id !== null) await forget(client, id);
}

export function readSetup(client: ApiClient): Promise<{ publicKey: string; items: Kept[] }> {
  return client.send({ path: '/push-subscriptions', schema: pushSetup });
}

export async function forget(client: ApiClient, id: string): Promise<void> {
  await client.send({
    method: 'DELETE',
    path: `/push-subscriptions/${encodeURIComponent(id)}`,
    schema: nothing,
  });
  if (localStorage.getItem(KEPT_ID) === id) localStorage.removeItem(KEPT_ID);
}

export async function sendTest(client: ApiClient, id: string): Promise<void> {
  await client.send({
    method: 'POST',
    path: `/push-subscriptions/${encodeURIComponent(id)}/test`,
    body: {},
    schema: nothing,
  });
}

/** A browser without a push service (a private window, no network to it) says so by failing. */
async function subscribe(
  worker: ServiceWorkerRegistration,
  publicKey: string,
): Promise<PushSubscription | null> {
  if (!('pushManager' in worker)) return null;
  try {
    return await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  } catch {
    return null;
  }
}
