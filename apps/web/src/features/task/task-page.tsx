import type { Task } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { ApiError, toApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { StopTask } from '../agents/stop-task.tsx';
import { FamilyStore } from './family-store.ts';
import { closeOpen, fitsStepFilter, type StepFilter } from './model/step.ts';
import { Family } from './parts/family.tsx';
import { FilterBar } from './parts/filter-bar.tsx';
import { Gantt } from './parts/gantt.tsx';
import { ReportButton, ReportOutcome, useReport } from './parts/report-button.tsx';
import { TaskHead } from './parts/task-head.tsx';
import { TaskVerdict } from './parts/task-verdict.tsx';
import { Timeline } from './parts/timeline.tsx';
import { StepStore } from './step-store.ts';
import { taskStrings } from './strings.ts';
import { useLiveTask } from './use-live-task.ts';

/** A task by its id: the address that every task has. */
export function TaskPage({ id }: { id: string }) {
  const strings = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const { client, stream } = useVitto();
  const task = useLiveTask(id);
  // Its steps are asked for at once, not after the task.
  const [store] = useState(() => new StepStore(id, client, stream));
  useEffect(() => store.open(), [store]);
  if (task.data !== undefined) return <LoadedTask task={task.data} store={store} />;
  const isMissing = task.error instanceof ApiError && [400, 404, 422].includes(task.error.status);
  return (
    <Page title={isMissing ? strings.missing : strings.title}>
      {isMissing && <p className="text-muted">{strings.missingHint}</p>}
      {task.isError && !isMissing && (
        <FailureNote title={strings.failed} error={toApiError(task.error)}>
          <Button onClick={() => void task.refetch()}>{shared.app.retry}</Button>
        </FailureNote>
      )}
      {task.isPending && <Skeleton />}
    </Page>
  );
}

function LoadedTask({ task: alone, store }: { task: Task; store: StepStore }) {
  const shared = useStrings();
  const family = useFamily(alone.rootId);
  // The family knows what those below have spent; the task itself may be ahead of it by a moment.
  const known = family.state.tasks.get(alone.id);
  const task = known !== undefined && known.lastSeq >= alone.lastSeq ? known : alone;
  const scroller = useRef<HTMLDivElement>(null);
  const report = useReport(task);
  const title = task.title === '' ? shared.app.untitled : task.title;
  return (
    <Page
      title={title}
      scroller={scroller}
      actions={
        <Actions
          task={task}
          title={title}
          report={<ReportButton state={report.state} onCopy={report.copy} />}
        />
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <div>
          <ReportOutcome state={report.state} onClose={report.close} />
          <TaskHead task={task} parent={family.state.tasks.get(task.parentId ?? '')} />
          {task.endedAt !== null && <TaskVerdict taskId={task.id} />}
        </div>
        <Family task={task} state={family.state} store={family.store} />
        <Steps task={task} store={store} scroller={scroller} />
      </div>
    </Page>
  );
}

function useFamily(rootId: string) {
  const { client, stream } = useVitto();
  const [store] = useState(() => new FamilyStore(rootId, client, stream));
  useEffect(() => store.open(), [store]);
  return { store, state: useSyncExternalStore(store.subscribe, store.getState) };
}

function Actions({ task, title, report }: { task: Task; title: string; report: React.ReactNode }) {
  const strings = useFeatureStrings(taskStrings);
  return (
    <div className="flex shrink-0 items-center gap-2">
      {task.conversationId !== null && (
        <Link
          to="/vitto/c/$conversationId"
          params={{ conversationId: task.conversationId }}
          aria-label={strings.openConversation}
          className="flex min-h-8 items-center gap-1.5 rounded-md border border-line bg-surface px-3 font-medium hover:border-line-strong"
        >
          <Icon name="chat" />
          <span className="max-lg:hidden">{strings.openConversation}</span>
        </Link>
      )}
      {report}
      {task.endedAt === null && <StopTask taskId={task.id} title={title} />}
    </div>
  );
}

function Steps(props: { task: Task; store: StepStore; scroller: React.RefObject<HTMLDivElement | null> }) {
  const { task, store, scroller } = props;
  const strings = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const [filter, setFilter] = useState<StepFilter>('all');
  const [target, setTarget] = useState<{ key: string } | null>(null);
  useOpenAtWork(task, store);
  const isLive = task.endedAt === null && state.after === 'none';
  const all = useMemo(() => (isLive ? state.list.steps : closeOpen(state.list.steps)), [state.list, isLive]);
  const steps = useMemo(() => all.filter((step) => fitsStepFilter(filter, step)), [all, filter]);

  if (state.status === 'error') {
    return (
      <FailureNote title={strings.stepsFailed} error={state.error}>
        <Button onClick={() => void store.jump('first')}>{shared.app.retry}</Button>
      </FailureNote>
    );
  }
  if (state.status === 'loading') return <Skeleton />;
  const open = (key: string) => {
    setFilter('all');
    setTarget({ key });
  };
  return (
    <>
      <Gantt steps={all} isPart={state.before !== 'none' || state.after !== 'none'} onOpen={open} />
      <div>
        <FilterBar
          filter={filter}
          steps={all}
          onFilter={setFilter}
          onJump={(where) => void store.jump(where)}
          isWhole={state.before === 'none' && state.after === 'none'}
        />
        <Timeline
          taskId={task.id}
          steps={steps}
          state={state}
          store={store}
          scroller={scroller}
          target={target}
        />
      </div>
    </>
  );
}

/** A task at work is opened where it works, unless all of it fits; one that is over where it began. */
function useOpenAtWork(task: Task, store: StepStore): void {
  const isDone = useRef(task.endedAt !== null);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  useEffect(() => {
    if (isDone.current || state.status !== 'ready') return;
    isDone.current = true;
    if (state.after === 'some') void store.jump('last');
  }, [state, store]);
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-3" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="h-20 rounded-lg bg-sunken" />
      {['w-2/3', 'w-1/2', 'w-3/5', 'w-2/5'].map((width) => (
        <span key={width} className={`h-4 rounded-sm bg-sunken ${width}`} />
      ))}
    </div>
  );
}
