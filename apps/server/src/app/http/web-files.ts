import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebApp } from '../../channels/index.ts';

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Vitto</title>
<h1>The web app is not built yet</h1>
<p>Vitto is running and its API answers. Build the web app with <code>npm run build:web</code>, then load this page again.</p>
</html>
`;

/**
 * Serves the built web app: files by their name, and its first page for every address that is a page of it.
 * Files whose name holds their hash are kept by browsers for good, everything else is asked for anew.
 */
export async function addWebFiles(app: WebApp, webRoot: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: webRoot,
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    cacheControl: false,
    schemaHide: true,
    suppressWarning: true,
    setHeaders: (reply, path) => void reply.header('cache-control', toCacheControl(webRoot, path)),
  });
  app.get('/', { schema: { hide: true } }, (_request, reply) => sendPage(reply, webRoot));
}

function toCacheControl(webRoot: string, path: string): string {
  return path.startsWith(join(webRoot, 'assets')) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

/** True for the address of a page: what is not the API and has no file's ending. */
export function isPageRequest(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? '/';
  return (
    request.method === 'GET' &&
    !isApiPath(path) &&
    !path.startsWith('/infrastructure/') &&
    !/\.[a-z0-9]{1,8}$/i.test(path)
  );
}

export function isApiPath(path: string): boolean {
  return /^\/(?:api|v1|mcp)(?:\/|$)/.test(path);
}

/** Sends the first page of the web app, or says how to build it. */
export function sendPage(reply: FastifyReply, webRoot: string): FastifyReply {
  if (existsSync(join(webRoot, 'index.html'))) return reply.sendFile('index.html');
  return reply.code(503).type('text/html; charset=utf-8').header('cache-control', 'no-store').send(NOT_BUILT);
}
