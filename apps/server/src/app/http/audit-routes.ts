import { auditEntry, auditQuery, auditVerification, page, type AuditEntry } from '@vitto/contracts';
import { z } from 'zod';
import { readAudit, readAuditActions, verifyAudit, type AuditRecord } from '../../audit/index.ts';
import {
  readNumberCursor,
  toPage,
  viewerOf,
  writeNumberCursor,
  type Viewer,
  type WebApp,
} from '../../channels/index.ts';
import { findUsersNamed, readUserNames } from '../../identity/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';

/** Who did what: owner and admins see everybody's entries, others their own. */
export function addAuditRoutes(app: WebApp, database: Database): void {
  const tags = ['audit'];

  app.get(
    '/api/audit',
    {
      schema: {
        tags,
        summary: 'The audit trail, newest first: all of it for owner and admins, their own for others',
        querystring: auditQuery,
        response: { 200: page(auditEntry) },
      },
    },
    async (request) => {
      const { q, action, from, to, cursor, limit } = request.query;
      const text = q === undefined || q === '' ? null : q;
      const rows = await readAudit(database.pool, {
        actorId: ownOnly(viewerOf(request)),
        text,
        namedIds: text === null ? [] : await findUsersNamed(database.pool, text),
        action: action ?? null,
        from: from ?? null,
        to: to ?? null,
        before: readNumberCursor(cursor),
        limit: limit + 1,
      });
      const { items, nextCursor } = toPage(rows, limit, (last) => writeNumberCursor(last.seq));
      return { items: await withNames(database, items), nextCursor };
    },
  );

  app.get(
    '/api/audit/actions',
    {
      schema: {
        tags,
        summary: 'The actions that the audit trail knows',
        response: { 200: z.object({ items: z.array(z.string()) }) },
      },
    },
    async (request) => ({ items: await readAuditActions(database.pool, ownOnly(viewerOf(request))) }),
  );

  app.get(
    '/api/audit/verify',
    {
      schema: {
        tags,
        summary: 'Compute every hash of the audit trail anew; for owner and admins',
        response: { 200: auditVerification },
      },
    },
    async (request) => {
      if (ownOnly(viewerOf(request)) !== null) throw notForMembers();
      return verifyAudit(database);
    },
  );
}

/** Whose entries a person sees; `null` for everybody's. */
function ownOnly(viewer: Viewer): string | null {
  return viewer.role === 'owner' || viewer.role === 'admin' ? null : viewer.userId;
}

async function withNames(database: Database, records: AuditRecord[]): Promise<AuditEntry[]> {
  const ids = new Set(records.flatMap((record) => record.actorId ?? []));
  const names = await readUserNames(database.pool, [...ids]);
  return records.map((record) => ({ ...record, actorName: names.get(record.actorId ?? '') ?? null }));
}

function notForMembers(): AppError {
  return new AppError('audit.not-yours', 'Only the owner and admins verify the whole audit trail.', {
    status: 403,
    hint: 'Ask one of them; your own entries are at GET /api/audit.',
  });
}
