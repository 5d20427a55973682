import { useEffect, useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { formatDuration } from '../chat/model/format.ts';
import { URGENT_MS } from './inbox-entry.ts';
import { inboxStrings } from './strings.ts';

/** Says how long is left in the last hour; before that the card's own line is enough. */
export function ExpiryMark({ at }: { at: string }) {
  const strings = useFeatureStrings(inboxStrings);
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(serverNow()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  const left = Date.parse(at) - now;
  if (left > URGENT_MS) return null;
  return (
    <span className="tabular font-medium text-amber">
      {left <= 0 ? strings.expired : strings.expiresSoon(formatDuration(Math.ceil(left / 1000) * 1000))}
    </span>
  );
}
