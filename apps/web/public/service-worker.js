// Shows what Vitto has to tell while no page of it is open (Web Push), and leads a click to the right page.
// It keeps nothing: pages and data always come from the server.

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const message = readMessage(event.data);
  if (message === null) return;
  event.waitUntil(
    isInView().then((inView) =>
      // Whoever looks at Vitto sees it there.
      inView
        ? undefined
        : self.registration.showNotification(message.title, {
            body: message.body,
            tag: message.tag,
            renotify: true,
            icon: '/favicon.svg',
            requireInteraction: message.isUrgent === true,
            data: { path: message.path },
          }),
    ),
  );
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const path = ownPath(event.notification.data?.path);
  event.waitUntil(openPath(path));
});

function readMessage(data) {
  try {
    const message = data.json();
    const isWhole = [message.title, message.body, message.tag].every((text) => typeof text === 'string');
    return isWhole ? message : null;
  } catch {
    return null;
  }
}

async function isInView() {
  const pages = await self.clients.matchAll({ type: 'window' });
  return pages.some((page) => page.focused);
}

/** A page of Vitto itself, whatever the message says. */
function ownPath(path) {
  const url = new URL(typeof path === 'string' ? path : '/vitto', self.location.origin);
  return url.origin === self.location.origin ? url.pathname + url.search : '/vitto';
}

async function openPath(path) {
  const pages = await self.clients.matchAll({ type: 'window' });
  for (const page of pages) {
    try {
      await page.focus();
      page.postMessage({ kind: 'open', path });
      return;
    } catch {
      // This one cannot be brought to the front; another may.
    }
  }
  await self.clients.openWindow(path);
}
