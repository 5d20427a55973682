/**
 * Checks which tasks of one call wait for which: each starts when all that it depends on have ended, so the graph runs
 * in waves. Gives what is wrong with it as a sentence for the model (an unknown index, a ring); `null` when it can run.
 */
export function checkDependencies(dependencies: readonly (readonly number[])[]): string | null {
  for (const [index, its] of dependencies.entries()) {
    const unknown = its.find((on) => on >= dependencies.length);
    if (unknown === undefined) continue;
    const last = dependencies.length - 1;
    return `tasks.${index}.dependsOn: there is no task ${unknown}; indices go from 0 to ${last}.`;
  }
  const done = new Set<number>();
  for (;;) {
    const wave = dependencies
      .map((_, index) => index)
      .filter((index) => !done.has(index) && (dependencies[index] ?? []).every((on) => done.has(on)));
    if (wave.length === 0) return done.size === dependencies.length ? null : describeRing(dependencies, done);
    for (const index of wave) done.add(index);
  }
}

/** Of the tasks that no wave could hold, those that wait for one another. */
function describeRing(dependencies: readonly (readonly number[])[], done: ReadonlySet<number>): string {
  const next = (index: number) => (dependencies[index] ?? []).find((on) => !done.has(on)) ?? index;
  const path: number[] = [];
  let at = dependencies.findIndex((_, index) => !done.has(index));
  while (!path.includes(at)) {
    path.push(at);
    at = next(at);
  }
  const ring = [...path.slice(path.indexOf(at)), at].join(' → ');
  return `dependsOn: tasks wait for one another in a ring (${ring}), so none of them could ever start.`;
}
