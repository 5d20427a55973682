import type { IncomingMessage } from 'node:http';

export interface Received {
  method: string;
  path: string;
  body: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}

export type Handler = (request: Received, id: string) => { status: number; body: unknown };
