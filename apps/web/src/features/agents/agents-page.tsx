import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { COLUMNS } from './agent-row.tsx';
import {
  fitsFilter,
  FILTERS,
  listRows,
  type Filter,
  type TaskRow,
  type Toggled,
} from './model/agent-rows.ts';
import { agentsStrings } from './strings.ts';
import { OlderButton, TaskList } from './task-list.tsx';
import { TaskListStore, type TaskListState } from './task-list-store.ts';

/** Every task that runs or waits, with its agents below it, live; and what has finished. */
export function AgentsPage() {
  const strings = useFeatureStrings(agentsStrings);
  const scroller = useRef<HTMLDivElement>(null);
  const { store, state } = useTaskList();
  const [filter, setFilter] = useState<Filter>('all');
  const { tasks, calls } = state.live;
  const { toggled, toggle } = useToggled(store);
  const rows = useMemo(
    () => listRows(tasks.values(), filter, startOfToday(), toggled),
    [tasks, filter, toggled],
  );
  return (
    <Page title={strings.title} isWide scroller={scroller}>
      <Filters filter={filter} onFilter={setFilter} state={state} />
      <div className="@container">
        {rows.length > 0 && <ColumnNames />}
        <TaskList rows={rows} calls={calls} scroller={scroller} onToggle={toggle} />
      </div>
      <Rest state={state} isEmpty={rows.length === 0} filter={filter} onRetry={() => void store.load()} />
      {state.status === 'ready' && <OlderButton state={state.older} onMore={() => void store.loadOlder()} />}
    </Page>
  );
}

function useTaskList() {
  const { client, stream } = useVitto();
  const [store] = useState(() => new TaskListStore(client, stream));
  useEffect(() => store.open(), [store]);
  return { store, state: useSyncExternalStore(store.subscribe, store.getState) };
}

/** What is open below what; the agents of what is opened are loaded. */
function useToggled(store: TaskListStore) {
  const [toggled, setToggled] = useState<Toggled>(new Map());
  const toggle = useCallback(
    ({ task, isOpen }: TaskRow) => {
      setToggled((before) => new Map(before).set(task.id, isOpen !== true));
      if (isOpen === false) void store.openFamily(task.rootId);
    },
    [store],
  );
  return { toggled, toggle };
}

function startOfToday(): Date {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day;
}

function Filters(props: { filter: Filter; onFilter: (filter: Filter) => void; state: TaskListState }) {
  const strings = useFeatureStrings(agentsStrings);
  const { tasks } = props.state.live;
  return (
    <div role="group" aria-label={strings.filter} className="-mx-1 mb-2 flex flex-wrap gap-1 px-1">
      {FILTERS.map((name) => {
        const count = [...tasks.values()].filter((task) => fitsFilter(name, task.state)).length;
        return (
          <button
            key={name}
            type="button"
            aria-pressed={props.filter === name}
            onClick={() => props.onFilter(name)}
            className="flex min-h-8 items-center gap-1.5 rounded-full border border-transparent px-3 text-muted hover:text-ink aria-pressed:border-line aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink"
          >
            {strings.filters[name]} <span className="tabular text-xs">{count}</span>
          </button>
        );
      })}
    </div>
  );
}

function ColumnNames() {
  const { columns } = useFeatureStrings(agentsStrings);
  return (
    <div className={`hidden border-b border-line px-2 pb-1 text-xs text-muted ${COLUMNS}`} aria-hidden="true">
      <span>{columns.state}</span>
      <span>{columns.task}</span>
      <span className="text-end">{columns.time}</span>
      <span className="text-end">{columns.tokens}</span>
      <span className="text-end">{columns.cost}</span>
      <span>{columns.left}</span>
    </div>
  );
}

function Rest(props: { state: TaskListState; isEmpty: boolean; filter: Filter; onRetry: () => void }) {
  const strings = useFeatureStrings(agentsStrings);
  const shared = useStrings();
  const { status, error } = props.state;
  if (status === 'error') {
    return (
      <FailureNote title={strings.failed} error={error}>
        <Button onClick={props.onRetry}>{shared.app.retry}</Button>
      </FailureNote>
    );
  }
  if (status === 'loading') return <Skeleton />;
  if (!props.isEmpty) return null;
  if (props.filter !== 'all') return <p className="py-8 text-center text-muted">{strings.noneFits}</p>;
  return (
    <div className="grid justify-items-center gap-2 py-14 text-center">
      <Icon name="agents" className="size-8 text-muted" />
      <p className="text-base font-semibold">{strings.empty}</p>
      <p className="max-w-md text-balance text-muted">{strings.emptyHint}</p>
      <Link to="/vitto" className="mt-2 text-accent underline underline-offset-4">
        {strings.start}
      </Link>
    </div>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-px" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      {['w-2/3', 'w-1/2', 'w-3/5', 'w-2/5'].map((width) => (
        <span key={width} className="flex h-[52px] items-center border-b border-line px-2">
          <span className={`h-3 rounded-sm bg-line ${width}`} />
        </span>
      ))}
    </div>
  );
}
