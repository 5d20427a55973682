import { Button } from '../../components/button.tsx';
import { Elapsed } from '../../components/elapsed.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { ScriptedLabel } from '../chat/scripted-label.tsx';
import { useDemo } from './use-demo.ts';

/** Offers the demo to who has no model yet, and says what it is: a script with real commands. */
export function DemoStart() {
  const strings = useStrings();
  const { start, startedAt, error } = useDemo();
  const isStarting = startedAt !== null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-3 rounded-lg border border-line bg-surface p-4">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
        <h3 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          {strings.demo.title}
          <ScriptedLabel />
        </h3>
        <p className="text-muted">{strings.demo.text}</p>
        <p className="text-muted">{strings.demo.honest}</p>
      </div>
      {error !== null && (
        <div className="w-full">
          <FailureNote title={strings.demo.failed} error={error} />
        </div>
      )}
      <Button look="primary" className="min-h-9" aria-disabled={isStarting} onClick={start}>
        {isStarting ? <span className="live-dot bg-current" /> : <Icon name="play" />}
        {isStarting ? strings.demo.preparing : error === null ? strings.demo.start : strings.app.retry}
      </Button>
      <div role="status" className="empty:hidden">
        {isStarting && (
          <p className="text-muted">
            {strings.demo.fetching} <Elapsed since={startedAt} label={strings.demo.elapsed} />
          </p>
        )}
      </div>
    </div>
  );
}
