import { settings, type Settings } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { AppError } from '../kernel/app-error.ts';

type SettingsChange = { [K in keyof Settings]?: Settings[K] | undefined };

/** A user's settings, with the defaults for what they have not set. */
export async function readSettings(database: Database, userId: string): Promise<Settings> {
  const result = await database.pool.query<{ settings: Record<string, unknown> }>(
    'select settings from vitto_user_settings where user_id = $1',
    [userId],
  );
  return toSettings(result.rows[0]?.settings ?? {});
}

/**
 * Changes the fields that are given and leaves the others, also when two changes come at once.
 * @throws AppError `settings.invalid` for a value that is none, naming the field.
 */
export async function updateSettings(
  database: Database,
  userId: string,
  change: SettingsChange,
): Promise<Settings> {
  checkChange(change);
  const result = await database.pool.query<{ settings: Record<string, unknown> }>(
    `insert into vitto_user_settings as s (user_id, settings) values ($1, $2)
     on conflict (user_id) do update set settings = s.settings || excluded.settings, updated_at = now()
     returning settings`,
    [userId, JSON.stringify(change)],
  );
  return toSettings(result.rows[0]?.settings ?? {});
}

/** A value that an earlier version wrote and this one does not take falls back to its default, alone. */
function toSettings(stored: Record<string, unknown>): Settings {
  const parsed = settings.safeParse(stored);
  if (parsed.success) return parsed.data;
  const bad = new Set(parsed.error.issues.map((issue) => issue.path[0]));
  return settings.parse(Object.fromEntries(Object.entries(stored).filter(([key]) => !bad.has(key))));
}

function checkChange(change: SettingsChange): void {
  const parsed = settings.partial().safeParse(change);
  const errors = parsed.success
    ? []
    : parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  if (change.timeZone !== undefined && !isTimeZone(change.timeZone)) {
    errors.push({ path: 'timeZone', message: 'not a time zone; a name such as Europe/Madrid is' });
  }
  if (errors.length === 0) return;
  throw new AppError('settings.invalid', 'A setting has a value that it does not take.', {
    status: 422,
    hint: 'Look at `errors`: each names its field. Nothing was changed.',
    errors,
  });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
