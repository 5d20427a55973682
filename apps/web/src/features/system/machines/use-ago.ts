import { serverNow } from '../../../api/server-clock.ts';
import { useClock } from '../../../components/use-clock.ts';

/** How old times of the server are, in the largest unit that says it: `12 s`, `4 min`, `3 h`, `12 d`. */
export function useAgo(): (time: string) => string {
  useClock();
  return (time) => formatAge(serverNow() - Date.parse(time));
}

function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
