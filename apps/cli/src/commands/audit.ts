import type { AuditEntry, AuditVerification } from '@vitto/contracts';
import { Option, type Command } from 'commander';
import { EXIT } from '../cli-error.ts';
import { createContext } from '../context.ts';
import { readPositive } from '../read-number.ts';
import { formatAge, formatCount, formatTable, shortId } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

const REASONS: Record<NonNullable<AuditVerification['reason']>, string> = {
  changed: 'it is not what was written, or it stands where it was not written',
  missing: 'it is gone, while entries after it are there',
  'end-missing': 'from here on the end is cut off',
  added: 'it was put in after the end, not by Vitto',
};

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('Who did what: the audit trail');
  audit
    .command('ls')
    .description('List entries, the newest first')
    .addOption(new Option('--action <action>', 'a whole action, or the part before its dot'))
    .addOption(new Option('--search <text>', 'part of an action, an object or a name'))
    .addOption(new Option('--limit <n>', 'how many').argParser(readPositive).default(20))
    .action(listAudit);
  audit
    .command('verify')
    .description('Compute every hash anew; exits with 1 when the trail is broken')
    .action(verifyAudit);
}

interface ListOptions {
  action?: string;
  search?: string;
  limit: number;
}

async function listAudit(options: ListOptions, command: Command): Promise<void> {
  const { api, output } = createContext(command);
  const filter = {
    ...(options.action === undefined ? {} : { action: options.action }),
    ...(options.search === undefined ? {} : { q: options.search }),
  };
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(200, Math.ceil(options.limit) - entries.length);
    const page = await api.listAudit({ ...filter, limit, ...(cursor === null ? {} : { cursor }) });
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && entries.length < options.limit);

  if (output.json) return output.document({ items: entries, nextCursor: cursor });
  if (entries.length === 0) return output.notice('No entry fits.');
  const now = Date.now();
  const rows = entries.map((entry) => toRow(entry, output.isTerminal ? formatAge(entry.at, now) : entry.at));
  for (const row of formatTable(rows)) output.line(row);
}

function toRow(entry: AuditEntry, at: string): string[] {
  const id = entry.objectId ?? '';
  const object = [entry.objectType ?? '', id.length === 36 ? shortId(id) : id].join(' ').trim();
  return [
    String(entry.seq),
    at,
    toPlainLine(entry.actorName ?? entry.actorId ?? 'nobody'),
    entry.via,
    entry.address ?? '',
    toPlainLine(entry.action),
    toPlainLine(object),
    entry.hash.slice(0, 10),
  ];
}

async function verifyAudit(_options: unknown, command: Command): Promise<void> {
  const { api, output } = createContext(command);
  const found = await api.verifyAudit();
  process.exitCode = found.isIntact ? EXIT.done : EXIT.failed;
  if (output.json) return output.document(found);
  if (found.isIntact) {
    const end = found.lastHash === null ? '' : `; it ends with ${found.lastHash}`;
    return output.line(`The audit trail is intact: ${formatCount(found.entries, 'entry', 'entries')}${end}.`);
  }
  const reason = found.reason === null ? '' : `: ${REASONS[found.reason]}`;
  output.line(`The audit trail is broken at entry ${found.brokenAt}${reason}.`);
  output.notice('What stands before it still holds. See docs/runbooks/audit-trail.md.');
}
