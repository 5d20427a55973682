/** What has to be undone at the end, the last first. */
export interface Stops {
  push: (...steps: (() => Promise<void>)[]) => void;
  /** Once, however often it is called. */
  run: () => Promise<void>;
}

export function createStops(): Stops {
  const steps: (() => Promise<void>)[] = [];
  let running: Promise<void> | null = null;
  const undo = async () => {
    for (const step of steps.toReversed()) await step();
  };
  return { push: (...more) => void steps.push(...more), run: () => (running ??= undo()) };
}
