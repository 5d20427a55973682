/** Steps of a build and what share of its time each takes (measured with `minimal` and `developer`). */
const STEPS = {
  guest: { title: 'Compiling the guest agent', weight: 2 },
  npm: { title: 'Fetching Node.js', weight: 8 },
  debian: { title: 'Installing Debian packages', weight: 60 },
  kernel: { title: 'Unpacking the kernel', weight: 5 },
  disk: { title: 'Making the disk', weight: 10 },
  snapshot: { title: 'Taking the base snapshot', weight: 15 },
} as const;
export type BuildStep = keyof typeof STEPS;

export interface BuildProgress {
  /** For people. */
  step: string;
  /** Of the whole build, 0 to 1; never goes back. */
  fraction: number;
}

/** Turns steps and how far each is into one number. `steps` are those that this build has. */
export function trackProgress(steps: readonly BuildStep[], report: (progress: BuildProgress) => void) {
  const total = steps.reduce((sum, step) => sum + STEPS[step].weight, 0);
  let highest = 0;
  return (step: BuildStep, part: number): void => {
    const before = steps.slice(0, steps.indexOf(step)).reduce((sum, one) => sum + STEPS[one].weight, 0);
    const fraction = (before + STEPS[step].weight * Math.min(1, Math.max(0, part))) / total;
    highest = Math.max(highest, fraction);
    report({ step: STEPS[step].title, fraction: highest });
  };
}
