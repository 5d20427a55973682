import { useStrings } from '../../i18n/strings-context.tsx';
import { Button } from '../../components/button.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { LiveColumn } from './live-column.tsx';
import type { LiveGroup, LiveView } from './model/live-view.ts';
import { NO_TAIL } from './model/tail.ts';
import { liveStrings } from './strings.ts';

interface LiveColumnsProps {
  group: LiveGroup;
  view: LiveView;
  onDismiss: (ids: Iterable<string>) => void;
}

/** A root task and those that work for it: side by side, on a phone below each other. */
export function LiveColumns({ group, view, onDismiss }: LiveColumnsProps) {
  const strings = useFeatureStrings(liveStrings);
  const shared = useStrings();
  const [first] = group.tasks;
  if (first === undefined) return null;
  const title = (first.title === '' ? shared.app.untitled : first.title).toWellFormed();
  const ended = group.tasks.filter((task) => task.endedAt !== null);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" data-root={group.rootId}>
      <div className="flex min-h-8 items-center gap-3">
        <h2 className="min-w-0 flex-1 truncate font-semibold" dir="auto">
          {title}
        </h2>
        {ended.length > 0 && (
          <Button look="quiet" onClick={() => onDismiss(ended.map((task) => task.id))}>
            {strings.clear}
          </Button>
        )}
      </div>
      <div
        role="region"
        aria-label={strings.group(title, group.tasks.length)}
        // What scrolls must be reached by keyboard.
        tabIndex={0}
        className="-mx-1 snap-x snap-proximity overflow-x-auto px-1 pb-2"
      >
        <ul className="flex gap-3 max-sm:flex-col">
          {group.tasks.map((task) => (
            <LiveColumn
              key={task.id}
              task={task}
              call={view.live.calls.get(task.id)}
              tail={view.tails.get(task.id) ?? NO_TAIL}
              onDismiss={onDismiss}
            />
          ))}
          {group.queued > 0 && (
            <li className="grid shrink-0 content-center gap-1 rounded-lg border border-dashed border-line-strong px-4 py-3 text-center text-muted sm:w-48">
              <p className="tabular font-medium">{strings.queued(group.queued)}</p>
              <p className="text-xs text-balance">{strings.queuedHint}</p>
            </li>
          )}
        </ul>
      </div>
    </section>
  );
}
