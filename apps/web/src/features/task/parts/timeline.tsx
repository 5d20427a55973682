import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { Step } from '../model/step.ts';
import type { Edge, StepState, StepStore } from '../step-store.ts';
import { taskStrings } from '../strings.ts';
import { ROW_PX, StepRow } from './step-row.tsx';

/** As near to the end as this counts as being there, in pixels. */
const NEAR_END = 60;

interface TimelineProps {
  taskId: string;
  steps: readonly Step[];
  state: StepState;
  store: StepStore;
  scroller: RefObject<HTMLDivElement | null>;
  /** Opened from the chart. */
  target: { key: string } | null;
}

/** The steps in sight, with a way to more on both sides; it stays at the end while the task goes on. */
export function Timeline({ taskId, steps, state, store, scroller, target }: TimelineProps) {
  const strings = useFeatureStrings(taskStrings);
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((key: string) => {
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => steps[index]?.key ?? index,
    scrollMargin: offset,
    overscan: 10,
  });
  // What stands above may change its height with any drawing.
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0));
  useKeepPlace(steps, state, scroller);
  useFollowEnd(steps, state, scroller);
  useEffect(() => {
    if (target === null) return;
    const index = steps.findIndex((step) => step.key === target.key);
    if (index === -1) return;
    setOpen((before) => new Set(before).add(target.key));
    virtual.scrollToIndex(index, { align: 'center' });
    // Only when something was chosen; not when steps come in.
  }, [target]);

  const items = virtual.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= steps.length - 5;
  useEffect(() => {
    if (isNearEnd && state.after === 'some') void store.loadAfter();
  }, [isNearEnd, state.after, store, steps.length]);

  return (
    <section aria-label={strings.timeline} className="[overflow-anchor:none]">
      <EdgeButton edge={state.before} label={strings.earlier} onMore={() => void store.loadBefore()} />
      {steps.length === 0 && <p className="py-6 text-center text-muted">{strings.noneFits}</p>}
      <div
        ref={list}
        className="relative"
        style={{ height: virtual.getTotalSize() }}
        data-steps={steps.length}
      >
        {items.map((item) => {
          const step = steps[item.index];
          if (step === undefined) return null;
          return (
            <div
              key={step.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${item.start - offset}px)` }}
            >
              <StepRow step={step} taskId={taskId} isOpen={open.has(step.key)} onToggle={toggle} />
            </div>
          );
        })}
      </div>
      <EdgeButton edge={state.after} label={strings.later} onMore={() => void store.loadAfter()} />
    </section>
  );
}

function EdgeButton({ edge, label, onMore }: { edge: Edge; label: string; onMore: () => void }) {
  const strings = useFeatureStrings(taskStrings);
  const shared = useStrings();
  if (edge === 'none') return null;
  return (
    <Button look="quiet" className="my-1 w-full" disabled={edge === 'loading'} onClick={onMore}>
      {edge === 'loading' ? strings.loading : edge === 'error' ? shared.app.retry : label}
    </Button>
  );
}

/** When earlier steps come in above, what is being read stays where it is. */
function useKeepPlace(
  steps: readonly Step[],
  state: StepState,
  scroller: RefObject<HTMLDivElement | null>,
): void {
  const first = useRef<{ key: string | undefined; generation: number }>({ key: undefined, generation: -1 });
  useLayoutEffect(() => {
    const { key, generation } = first.current;
    first.current = { key: steps[0]?.key, generation: state.generation };
    if (generation !== state.generation || key === undefined || key === steps[0]?.key) return;
    const added = steps.findIndex((step) => step.key === key);
    if (added > 0 && scroller.current !== null) scroller.current.scrollTop += added * ROW_PX;
  }, [steps, state.generation, scroller]);
}

/** Opens at the end that was asked for, and stays at the last step while more come, unless somebody scrolled up. */
function useFollowEnd(
  steps: readonly Step[],
  state: StepState,
  scroller: RefObject<HTMLDivElement | null>,
): void {
  const follows = useRef(false);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const onScroll = () => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || state.generation === 0) return;
    const isAtEnd = state.after === 'none' && state.before !== 'none';
    element.scrollTop = isAtEnd ? element.scrollHeight : 0;
    follows.current = isAtEnd;
    // The first place of each part, and nothing else.
  }, [state.generation]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && follows.current && state.after === 'none')
      element.scrollTop = element.scrollHeight;
  }, [steps.length, state.after, scroller]);
}
