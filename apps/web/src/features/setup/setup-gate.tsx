import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useHasModel } from './use-has-model.ts';

const SetupPage = lazy(async () => ({ default: (await import('./setup-page.tsx')).SetupPage }));

/** What is inside, once there is a model to answer; before that the way to one. */
export function SetupGate({ children }: { children: ReactNode }) {
  const hasModel = useHasModel();
  // A provider that works gives a model at once: the page stays until the person has said what a day may cost.
  const [isUnderWay, setUnderWay] = useState(false);
  if (isUnderWay || hasModel === false) {
    return (
      <Suspense>
        <SetupPage onBegin={() => setUnderWay(true)} onDone={() => setUnderWay(false)} />
      </Suspense>
    );
  }
  return hasModel === undefined ? <div aria-busy="true" /> : children;
}
