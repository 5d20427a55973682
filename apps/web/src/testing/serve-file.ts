import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the built app, or its first page for every address that is none. */
export async function serveFile(response: ServerResponse, root: string, path: string): Promise<void> {
  const name = extname(path) === '' ? '/index.html' : normalize(path);
  const content = await readFile(join(root, name)).catch(() => null);
  if (content === null) return void response.writeHead(404).end();
  response
    .writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' })
    .end(content);
}
