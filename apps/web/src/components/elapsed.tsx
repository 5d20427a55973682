import { useEffect, useState } from 'react';
import { serverNow } from '../api/server-clock.ts';
import { formatTimer } from '../features/chat/model/format.ts';

/** A timer since a moment of the server's clock; it alone is drawn again each second. */
export function Elapsed({ since, label }: { since: string; label?: string }) {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(serverNow()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <span className="tabular" role="timer" aria-label={label} aria-live="off">
      {formatTimer(now - Date.parse(since))}
    </span>
  );
}
