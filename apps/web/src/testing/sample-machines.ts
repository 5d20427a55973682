import type { ImageInfo, SandboxHostInfo, SandboxInfo, SandboxOverview } from '@vitto/contracts';
import { idOf } from './event-maker.ts';

const NOW = new Date().toISOString();

/** Every state that a host, an image and a machine can be in, as the API says it. */
export function sampleMachines(): SandboxOverview {
  return {
    hosts: [
      host({ images: [image('developer', BUILDING), image('minimal', FAILED)] }),
      host({
        id: idOf(302),
        name: `host-${'with-a-long-name-'.repeat(4)}`,
        url: 'http://192.0.2.7:4810',
        isReachable: false,
        reason: 'The host does not answer.',
        hint: 'Start it there with `npm run vitto -- sandbox-host`.',
      }),
    ],
    sandboxes: [
      machine(401, {
        state: 'running',
        from: 'base-snapshot',
        acquireTimeMs: 210,
        startedAt: NOW,
        memoryBytes: 180_000_000,
        stages: [
          { stage: 'start', ms: 70 },
          { stage: 'memory', ms: 30 },
          { stage: 'a-stage-of-tomorrow', ms: 5 },
        ],
        claims: [
          { taskId: idOf(1), isTask: true, since: NOW, lastCallAt: NOW },
          { taskId: idOf(2), isTask: false, since: NOW, lastCallAt: NOW },
        ],
        commands: [{ taskId: idOf(1), command: `make ${'a-target '.repeat(30)}`, since: NOW }],
        snapshot: { ...SNAPSHOT, isUsable: false, reason: 'The disk is newer.' },
      }),
      machine(402, { state: 'starting' }),
      machine(403, { state: 'suspending', from: 'boot', startedAt: NOW }),
      machine(404, { state: 'suspended', userId: idOf(6), snapshot: SNAPSHOT }),
      machine(405, { state: 'lost', snapshot: { ...SNAPSHOT, isUsable: false, reason: 'It is damaged.' } }),
    ],
  };
}

const SNAPSHOT = { id: idOf(500), createdAt: NOW, bytes: 95_000_000, isUsable: true, reason: null };
const BUILDING: Partial<ImageInfo> = {
  state: 'building',
  progress: { step: 'Installing packages', fraction: 0.42 },
};
const FAILED: Partial<ImageInfo> = {
  state: 'failed',
  problem: 'deb.debian.org does not answer. Then `npm run vitto -- image build minimal`.',
};

function host(of: Partial<SandboxHostInfo>): SandboxHostInfo {
  return {
    id: idOf(301),
    name: 'here',
    url: null,
    isReachable: true,
    provider: 'qemu',
    accelerator: 'kvm',
    version: '7.2.22',
    reason: null,
    hint: null,
    running: 1,
    waiting: 2,
    maxConcurrent: 4,
    memory: { totalBytes: 16_000_000_000, freeBytes: 9_500_000_000 },
    images: [],
    ...of,
  };
}

function image(name: string, of: Partial<ImageInfo>): ImageInfo {
  return {
    name,
    hash: 'a'.repeat(64),
    state: 'ready',
    bytes: 0,
    builtAt: null,
    hasBaseSnapshot: false,
    progress: null,
    problem: null,
    ...of,
  };
}

function machine(id: number, of: Partial<SandboxInfo>): SandboxInfo {
  return {
    id: idOf(id),
    userId: idOf(5),
    template: 'developer',
    hostId: idOf(301),
    state: 'running',
    from: null,
    acquireTimeMs: null,
    stages: [],
    startedAt: null,
    lastUsedAt: NOW,
    memoryBytes: null,
    memoryMib: 1024,
    cpus: 2,
    diskBytes: 2_800_000,
    claims: [],
    commands: [],
    snapshot: null,
    ...of,
  };
}
