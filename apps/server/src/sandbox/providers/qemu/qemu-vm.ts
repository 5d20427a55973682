import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { StartStages } from '@vitto/contracts';
import { ProviderError, type Vm, type VmSpec } from '../sandbox-provider.ts';
import { connectSocket } from './connect-socket.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import type { QmpClient } from './qmp-client.ts';
import type { RunFolder } from './run-folder.ts';

/** How often it is looked whether a VM that an earlier process started is there still. */
const WATCH_MS = 250;

/** A running VM of QEMU. */
export class QemuVm implements Vm {
  readonly id: string;
  readonly stages: StartStages;
  readonly ended: Promise<{ reason: string }>;
  readonly spec: VmSpec;
  readonly monitor: QmpClient;
  readonly identity: ProcessIdentity;
  readonly #folder: RunFolder;
  readonly #uid: number;
  #agent: Socket | null = null;

  constructor(options: {
    spec: VmSpec;
    folder: RunFolder;
    uid: number;
    identity: ProcessIdentity;
    monitor: QmpClient;
    stages: StartStages;
    /** Of a process that this one started; else it is watched. */
    exited?: Promise<string>;
  }) {
    this.id = options.spec.vmId;
    this.spec = options.spec;
    this.stages = options.stages;
    this.monitor = options.monitor;
    this.identity = options.identity;
    this.#folder = options.folder;
    this.#uid = options.uid;
    this.ended = (options.exited ?? watchEnd(options.identity)).then((reason) => {
      this.monitor.close();
      this.#agent?.destroy();
      return { reason };
    });
  }

  get pid(): number {
    return this.identity.pid;
  }

  async connectAgent(): Promise<Duplex> {
    this.disconnectAgent();
    try {
      this.#agent = await connectSocket(join(this.#folder.io, 'agent.sock'), this.#uid);
      return this.#agent;
    } catch (error) {
      throw new ProviderError('start-failed', `The guest's agent cannot be reached: ${String(error)}`);
    }
  }

  disconnectAgent(): void {
    this.#agent?.destroy();
    this.#agent = null;
  }

  /** QEMU speaks with one process at a time: from here on that may be another. The VM goes on. */
  letGo(): void {
    this.disconnectAgent();
    this.monitor.close();
  }

  async memoryBytes(): Promise<number> {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'latin1');
      return isAlive(this.identity) ? Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024 : 0;
    } catch {
      return 0;
    }
  }
}

async function watchEnd(identity: ProcessIdentity): Promise<string> {
  while (isAlive(identity)) await sleep(WATCH_MS, undefined, { ref: false });
  return 'gone';
}
