import type { SystemStatus } from '@vitto/contracts';
import { useClock } from '../../components/use-clock.ts';
import { formatDuration } from '../chat/model/format.ts';

/**
 * How long ago times of a status are, growing each second. Told against the clock of the database that wrote them,
 * so that a browser whose clock is wrong shows the same.
 */
export function useAge(status: SystemStatus, readAt: number): (time: string) => string {
  const now = useClock();
  const sinceRead = Math.max(0, now - readAt);
  return (time) => {
    const ms = Math.max(0, Date.parse(status.readAt) - Date.parse(time) + sinceRead);
    // Whole seconds: a tenth would only flicker.
    return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms);
  };
}
