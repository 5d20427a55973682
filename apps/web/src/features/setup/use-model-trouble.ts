import type { Settings, SystemStatus } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { settingsQuery, systemQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';

export interface ModelTrouble {
  detail: string | null;
  hint: string | null;
}

/** Why there is no model to answer; `null` when there is one, or while it is not known. */
export function useModelTrouble(): ModelTrouble | null {
  const { api } = useVitto();
  const system = useQuery(systemQuery(api));
  const settings = useQuery(settingsQuery(api));
  if (system.data === undefined || settings.data === undefined) return null;
  return findModelTrouble(system.data, settings.data);
}

/** A list of a person's own is enough: the installation need not have one. */
export function findModelTrouble(
  system: Pick<SystemStatus, 'models' | 'components'>,
  settings: Pick<Settings, 'models'>,
): ModelTrouble | null {
  if (settings.models.main !== undefined) return null;
  const main = system.models.find((one) => one.role === 'main');
  if (main !== undefined && main.models.length > 0) return null;
  // That none is set up the page says itself, in the person's language.
  const part = system.components.find(
    (one) => one.name.startsWith('model') && one.state !== 'ok' && one.state !== 'missing',
  );
  return { detail: part?.detail ?? null, hint: part?.hint ?? null };
}
