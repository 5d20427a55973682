import { expect, it } from 'vitest';
import { RunningBuilds } from './running-builds.ts';

/** A build that goes on until it is told, or its signal ends it. */
function makeBuild() {
  const end = Promise.withResolvers<string>();
  let begun = 0;
  const work = async (
    report: (progress: { step: string; fraction: number }) => void,
    signal: AbortSignal,
  ) => {
    begun += 1;
    signal.addEventListener('abort', () => end.reject(new Error('ended')));
    report({ step: 'half', fraction: 0.5 });
    return end.promise;
  };
  return { work, finish: end.resolve, begun: () => begun };
}

it('all that want an image wait for one build, and all see how far it is', async () => {
  const builds = new RunningBuilds<string>();
  const build = makeBuild();
  const seen: number[] = [];
  const first = builds.join('a', build.work, { onProgress: ({ fraction }) => seen.push(fraction) });
  const second = builds.join('a', build.work, {});
  await Promise.resolve();
  expect(builds.progressOf('a')).toEqual({ step: 'half', fraction: 0.5 });
  build.finish('image');
  expect(await Promise.all([first, second])).toEqual(['image', 'image']);
  expect(build.begun()).toBe(1);
  expect(seen).toEqual([0, 0.5]);
  expect(builds.progressOf('a')).toBeNull();
});

it('who gives up goes alone, and the last takes the build along', async () => {
  const builds = new RunningBuilds<string>();
  const build = makeBuild();
  const [one, two] = [new AbortController(), new AbortController()];
  const first = builds.join('a', build.work, { signal: one.signal });
  const second = builds.join('a', build.work, { signal: two.signal });
  one.abort();
  await expect(first).rejects.toMatchObject({ code: 'image.cancelled' });
  expect(builds.progressOf('a')).not.toBeNull();
  two.abort();
  await expect(second).rejects.toThrow('ended');
  expect(builds.progressOf('a')).toBeNull();
});

it('a failed build is begun anew by the next', async () => {
  const builds = new RunningBuilds<string>();
  await expect(builds.join('a', () => Promise.reject(new Error('no')), {})).rejects.toThrow('no');
  expect(await builds.join('a', () => Promise.resolve('image'), {})).toBe('image');
});
