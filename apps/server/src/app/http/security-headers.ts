import helmet from '@fastify/helmet';
import type { WebApp } from '../../channels/index.ts';

/** What a page of Vitto may load and who may frame it: itself, and nobody. */
export async function addSecurityHeaders(app: WebApp, publicUrl: string): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        connectSrc: ["'self'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: publicUrl.startsWith('https:') ? { maxAge: 15_552_000 } : false,
  });
}
