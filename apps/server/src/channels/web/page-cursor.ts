import { z } from 'zod';
import { AppError } from '../../kernel/app-error.ts';

/** Where the next page begins: after the row of this time and id. */
export interface PageKey {
  at: string;
  id: string;
}
const pageKey = z.tuple([z.iso.datetime(), z.uuid()]);

/** A position in a list as an opaque text. The list may grow and shrink meanwhile: nothing is skipped or repeated. */
export function writeCursor(key: PageKey): string {
  return Buffer.from(JSON.stringify([key.at, key.id])).toString('base64url');
}

/** @throws AppError `request.invalid` for a text that `writeCursor` has not made. */
export function readCursor(cursor: string | undefined): PageKey | null {
  if (cursor === undefined) return null;
  const key = pageKey.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!key.success) throw badCursor();
  return { at: key.data[0], id: key.data[1] };
}

/** Cursor of a list that is ordered by a whole number. */
export function writeNumberCursor(value: number): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
export function readNumberCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const value = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Number.isSafeInteger(value)) throw badCursor();
  return value as number;
}

/** A page of at most `limit` from rows of which one more than that was asked for. */
export function toPage<T>(
  rows: T[],
  limit: number,
  cursorOf: (last: T) => string,
): { items: T[]; nextCursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function badCursor(): AppError {
  return new AppError('request.invalid', 'The request does not fit what this route takes.', {
    status: 422,
    hint: 'Leave `cursor` out to begin with the first page.',
    errors: [{ path: 'query.cursor', message: 'not a cursor that this list has given' }],
  });
}
