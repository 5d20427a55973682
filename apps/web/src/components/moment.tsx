import { formatClock, formatMoment } from '../features/chat/model/format.ts';
import { useLanguage } from '../i18n/strings-context.tsx';

/** A time of day; the whole of it on hover. */
export function Moment({ at }: { at: string }) {
  const language = useLanguage();
  return (
    <time dateTime={at} title={formatMoment(at, language)} className="tabular">
      {formatClock(at, language)}
    </time>
  );
}
