import type { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Artifact } from '@vitto/contracts';
import { idOf } from './event-maker.ts';
import { NOW } from './fake-shapes.ts';

/** The files of a fake server: those it has, and those that are uploaded to it. */
export class FakeArtifacts {
  readonly #files = new Map<string, { facts: Artifact; content: Buffer }>();
  /** The ranges that were asked for. */
  readonly ranges: string[] = [];
  #count = 0;

  add(name: string, mediaType: string, content: string | Buffer, id = idOf(500 + this.#count)): Artifact {
    this.#count += 1;
    const bytes = Buffer.from(content);
    const facts = { id, name, mediaType, bytes: bytes.length, taskId: null, createdAt: NOW };
    this.#files.set(id, { facts, content: bytes });
    return facts;
  }

  find(id: string): Artifact | null {
    return this.#files.get(id)?.facts ?? null;
  }

  /** Sends the bytes that a request asks for; false when there is no such file. */
  sendContent(id: string, request: IncomingMessage, response: ServerResponse): boolean {
    const file = this.#files.get(id);
    if (file === undefined) return false;
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (request.headers.range !== undefined) this.ranges.push(request.headers.range);
    const { length } = file.content;
    const [start, end] = range === null ? [0, length - 1] : [Number(range[1]), Number(range[2])];
    response
      .writeHead(range === null ? 200 : 206, { 'content-type': file.facts.mediaType })
      .end(file.content.subarray(start, end + 1));
    return true;
  }
}
