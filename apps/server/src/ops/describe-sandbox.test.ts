import type { ImageInfo, SandboxHostInfo } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { describeSandbox } from './describe-sandbox.ts';

const PROBE = {
  available: true,
  reason: null,
  hint: null,
  memoryLimit: 'cgroup',
} as unknown as Parameters<typeof describeSandbox>[0];
const imageOf = (name: string, change: Partial<ImageInfo> = {}): ImageInfo => ({
  name,
  hash: 'h',
  state: 'ready',
  bytes: 1,
  builtAt: null,
  hasBaseSnapshot: true,
  progress: null,
  problem: null,
  ...change,
});
const hostOf = (change: Partial<SandboxHostInfo> = {}): SandboxHostInfo => ({
  id: 'a',
  name: 'vm1',
  url: null,
  isReachable: true,
  provider: 'qemu',
  accelerator: 'tcg',
  version: '7.2',
  reason: null,
  hint: null,
  running: 1,
  waiting: 0,
  maxConcurrent: 4,
  memory: null,
  images: [imageOf('developer')],
  ...change,
});
const describeHosts = (...hosts: SandboxHostInfo[]) => describeSandbox(PROBE, hosts, 'developer');

describe('the sandbox in the status', () => {
  it('is well with VMs of the usual image, and says how fast they are', () => {
    expect(describeHosts(hostOf())).toEqual({
      name: 'sandbox',
      state: 'ok',
      detail: 'VMs of "developer" on vm1 (without KVM, slower, 1 of 4)',
    });
    expect(describeHosts(hostOf({ accelerator: 'kvm' })).detail).toContain('(KVM, 1 of 4)');
  });

  it('says what is used instead, and how far the image is', () => {
    const building = imageOf('developer', { state: 'building', progress: { step: 'Debian', fraction: 0.4 } });
    const some = describeHosts(hostOf({ images: [building, imageOf('minimal')] }));
    expect(some.state).toBe('degraded');
    expect(some.detail).toContain('VMs of "minimal"');
    expect(some.detail).toContain('"developer" is being built (Debian, 40 %)');
    expect(describeHosts(hostOf({ images: [building] })).detail).toMatch(
      /^no VM: the image .* 40 %\); there is/,
    );
    const small = imageOf('minimal', { state: 'building', progress: { step: 'Debian', fraction: 0.3 } });
    const waits = imageOf('developer', { state: 'building', progress: { step: 'Waiting', fraction: 0 } });
    expect(describeHosts(hostOf({ images: [waits, small] })).detail).toContain('"minimal" is being built');
    const failed = describeHosts(
      hostOf({ images: [imageOf('developer', { state: 'failed', problem: 'no disk.' })] }),
    );
    expect(failed).toMatchObject({
      state: 'degraded',
      hint: expect.stringContaining('image build developer'),
    });
  });

  it('names the hosts that do not answer', () => {
    const away = hostOf({
      name: 'vm2',
      isReachable: false,
      accelerator: null,
      reason: 'ECONNREFUSED',
      hint: 'h',
    });
    expect(describeHosts(hostOf(), away)).toMatchObject({ state: 'degraded', hint: expect.any(String) });
    expect(describeHosts(hostOf(), away).detail).toContain('vm2 does not answer');
    expect(describeHosts(away).detail).toMatch(/^no VM: the host vm2 does not answer; there is/);
  });

  it('says why there is no VM at all, and whether commands run nevertheless', () => {
    expect(describeHosts()).toMatchObject({
      state: 'degraded',
      hint: expect.stringContaining('VITTO_ROLES'),
    });
    const none = hostOf({
      accelerator: null,
      reason: 'QEMU is not installed.',
      hint: 'apt-get install qemu',
    });
    expect(describeHosts(none)).toMatchObject({
      state: 'degraded',
      detail: 'no VM: QEMU is not installed; there is the process sandbox, memory held by cgroup',
      hint: 'apt-get install qemu',
    });
    const off = { ...PROBE, available: false, reason: 'no bubblewrap', hint: 'install it' };
    expect(describeSandbox(off, [none], 'developer')).toMatchObject({ state: 'missing' });
  });
});
