import type { Logger } from '../../kernel/logger.ts';
import type { HostQueue } from './host-queue.ts';
import type { MachineOwner, StartDeps } from './start-machine.ts';
import type { SessionAgent } from './session-agent.ts';
import type { Vm } from '../providers/sandbox-provider.ts';

/** Why a task no longer holds a session, when it has not let go of it itself. */
export interface ClaimEnd {
  sandboxId: string;
  userId: string;
  taskId: string;
  /** `lost`: what was in the VM's memory is gone. */
  how: 'released' | 'lost';
  /** For people. */
  reason: string;
}

/** A VM that is up, for what else is joined to it (its way out, the git transport, people's shells). */
export interface OpenSandbox extends MachineOwner {
  template: string;
  vm: Vm;
  agent: SessionAgent;
  sshHostPublicKey: string;
}

/** What others do when sessions come, go and lose claims. None of them may throw. */
export interface SessionEvents {
  /** Its agent is there, also when it is there again after a break or a rotation. */
  onUp?: (sandbox: OpenSandbox) => void;
  /** No VM of it is left, and none is about to come back. */
  onDown?: (sandbox: MachineOwner) => void;
  onClaimEnded?: (end: ClaimEnd) => void;
}

export interface SessionPolicy {
  /** Whether tasks of a user have its session at the same time; false: one after the other. */
  reuseActive: boolean;
  /** A session without claims, before it is suspended. */
  lingerMs: number;
  /** False: it is ended without a snapshot then; its disk is kept. */
  snapshotOnRelease: boolean;
  /** A claim that makes no call for so long is released. */
  maxLifetimeMs: number;
  /** A session older than this is rotated. */
  hardLifetimeMs: number;
}

export interface SessionDeps extends StartDeps {
  hostId: string;
  /** Of this process start. */
  holder: string;
  queue: HostQueue;
  policy: SessionPolicy;
  events: SessionEvents;
  logger: Logger;
  /** Aborts when this process stops or another one speaks for the host: nothing is touched any more. */
  abandoned: AbortSignal;
}
