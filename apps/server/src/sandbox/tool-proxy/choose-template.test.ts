import type { ImageInfo, SandboxHostInfo } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { chooseTemplate } from './choose-template.ts';
import { stricterPolicy } from './degrade-policy.ts';

const image = (name: string, state: ImageInfo['state'], more: Partial<ImageInfo> = {}): ImageInfo => ({
  name,
  hash: 'h',
  state,
  bytes: 0,
  builtAt: null,
  hasBaseSnapshot: false,
  progress: null,
  problem: null,
  ...more,
});
const host = (images: ImageInfo[], more: Partial<SandboxHostInfo> = {}): SandboxHostInfo => ({
  id: 'h1',
  name: 'vm1',
  url: null,
  isReachable: true,
  provider: 'qemu',
  accelerator: 'tcg',
  version: '7.2',
  reason: null,
  hint: null,
  running: 0,
  waiting: 0,
  maxConcurrent: 4,
  memory: null,
  images,
  ...more,
});

describe('the image of a task', () => {
  it('is the wanted one where any host has it, else the small one, and what it had before all', () => {
    const both = [host([image('minimal', 'ready')]), host([image('developer', 'ready')])];
    expect(chooseTemplate(both, 'developer', null)).toEqual({
      kind: 'chosen',
      template: 'developer',
      notices: [],
    });
    expect(chooseTemplate(both, 'developer', 'minimal')).toMatchObject({ template: 'minimal', notices: [] });
    expect(chooseTemplate([host([image('minimal', 'ready')])], 'developer', null)).toMatchObject({
      template: 'minimal',
      notices: [expect.stringMatching(/^The image "developer" has not been built\. This task uses/)],
    });
    expect(chooseTemplate([host([image('minimal', 'ready')])], 'developer', 'developer')).toMatchObject({
      kind: 'none',
      hint: 'Build it: vitto image build developer',
    });
  });

  it('is none where none is ready, with why and what to do', () => {
    const progress = { step: 'packages', fraction: 0.255 };
    expect(chooseTemplate([host([image('developer', 'building', { progress })])], 'developer', null)).toEqual(
      {
        kind: 'none',
        reason: 'The image "developer" is being built (packages, 26 %).',
        hint: undefined,
        isPassing: true,
      },
    );
    const small = [image('developer', 'building'), image('minimal', 'building', { progress })];
    expect(chooseTemplate([host(small)], 'developer', null)).toMatchObject({
      reason: 'The image "minimal" is being built (packages, 26 %).',
    });
    const failed = image('developer', 'failed', { problem: 'no space left' });
    expect(chooseTemplate([host([failed])], 'developer', null)).toMatchObject({
      reason: 'The image "developer" could not be built: no space left.',
    });
  });

  it('is none where no host can start VMs: worth waiting for only when one is away', () => {
    const ready = [image('developer', 'ready')];
    const without = host(ready, { reason: 'QEMU is not installed.', hint: 'Install: apt-get install qemu' });
    expect(chooseTemplate([without], 'developer', null)).toEqual({
      kind: 'none',
      reason: 'QEMU is not installed.',
      hint: 'Install: apt-get install qemu',
      isPassing: false,
    });
    expect(chooseTemplate([host(ready, { isReachable: false })], 'developer', null)).toMatchObject({
      reason: 'The sandbox host vm1 does not answer.',
      isPassing: true,
    });
    expect(chooseTemplate([], 'developer', null)).toMatchObject({ kind: 'none', isPassing: false });
  });
});

it.each([
  ['allow', null, 'allow'],
  ['ask', 'allow', 'ask'],
  ['ask', 'never', 'never'],
  ['never', 'allow', 'never'],
  ['allow', 'ask', 'ask'],
] as const)('of the policies %s and %s, %s holds', (installation, own, holds) => {
  expect(stricterPolicy(installation, own)).toBe(holds);
});
