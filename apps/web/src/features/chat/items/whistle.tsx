import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { ToolItem } from '../model/view.ts';

/** What Vitto wants known at once while it goes on; amber when it is a warning. */
export function Whistle({ item }: { item: ToolItem }) {
  const strings = useStrings();
  const { message, severity } = readWhistle(item.data ?? item.arguments);
  const isWarning = severity === 'warning';
  return (
    <div
      className={`appear flex gap-2.5 rounded-lg border px-3 py-2 ${isWarning ? 'border-amber-line bg-amber-soft' : 'border-line bg-surface'}`}
    >
      <Icon name="bell" className={`mt-0.5 ${isWarning ? 'text-amber' : 'text-accent'}`} />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium">{strings.notice.whistle}</p>
        <p className="whitespace-pre-wrap" dir="auto">
          {message.toWellFormed()}
        </p>
      </div>
    </div>
  );
}

function readWhistle(data: unknown): { message: string; severity: string } {
  const record = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  const { message, severity } = record;
  return {
    message: typeof message === 'string' ? message : '',
    severity: typeof severity === 'string' ? severity : 'info',
  };
}
