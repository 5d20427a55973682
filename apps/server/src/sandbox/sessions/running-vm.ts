import type { Clock } from '../../kernel/clock.ts';
import type { Vm, VmSpec } from '../providers/sandbox-provider.ts';
import type { SessionAgent } from './session-agent.ts';
import { SessionCalls } from './session-calls.ts';
import type { OpenSandbox } from './session-types.ts';

/** How long a guest has to write what it holds to its disk before its VM is suspended or ended. */
const SYNC_LIMIT_MS = 15_000;
/** How often in a row the channel to an agent is opened again while its VM runs. */
const RECONNECTS = 3;

export interface UpVm {
  vm: Vm;
  agent: SessionAgent;
  spec: VmSpec;
  sshHostPublicKey: string;
}

export interface VmWatcher {
  /** It ended, and nobody here has ended it. */
  onGone: (reason: string) => void;
  /** The channel to its agent is a new one. */
  onReconnected: () => void;
  /** No call is under way any more. */
  onQuiet: () => void;
  connectAgent: (vm: Vm) => Promise<SessionAgent>;
}

/** A VM of a session that answers, from when it is up until this process takes it down or it ends by itself. */
export class RunningVm {
  readonly vm: Vm;
  readonly calls: SessionCalls;
  /** Gives its room on the host away. */
  readonly leave: () => void;
  readonly #about: Pick<OpenSandbox, 'sandboxId' | 'userId' | 'template'>;
  readonly #sshHostPublicKey: string;
  readonly #watcher: VmWatcher;
  #agent: SessionAgent;
  #isEnding = false;

  constructor(
    up: UpVm,
    about: Pick<OpenSandbox, 'sandboxId' | 'userId' | 'template'>,
    leave: () => void,
    watcher: VmWatcher,
  ) {
    this.vm = up.vm;
    this.#agent = up.agent;
    this.#sshHostPublicKey = up.sshHostPublicKey;
    this.#about = about;
    this.leave = leave;
    this.#watcher = watcher;
    this.calls = new SessionCalls(watcher.onQuiet);
    void up.vm.ended.then(({ reason }) => this.#gone(reason));
    this.#watchAgent(RECONNECTS);
  }

  get agent(): SessionAgent {
    return this.#agent;
  }
  get isEnding(): boolean {
    return this.#isEnding;
  }
  get sandbox(): OpenSandbox {
    const { vm, agent } = this;
    return { ...this.#about, vm, agent, sshHostPublicKey: this.#sshHostPublicKey };
  }

  /** From here on this process ends it: that it ends is no loss, and no call comes through any more. */
  beginEnd(reason: string): void {
    this.#isEnding = true;
    this.calls.cut(reason);
  }

  /** What programs have written must be on the disk: the next start may be from the disk alone. */
  async sync(clock: Clock): Promise<void> {
    const limit = new AbortController();
    const waits = [this.#agent.sync(), this.vm.ended, clock.sleep(SYNC_LIMIT_MS, limit.signal)];
    await Promise.race(waits)
      .catch(() => undefined)
      .finally(() => limit.abort());
    void Promise.allSettled(waits);
  }

  #gone(reason: string): void {
    if (this.#isEnding) return;
    this.beginEnd(`it ended (${reason})`);
    this.#watcher.onGone(reason);
  }

  /** An agent that dies is started again by its guest. */
  #watchAgent(triesLeft: number): void {
    const agent = this.#agent;
    void agent.closed.then(async () => {
      if (this.#isEnding) return;
      try {
        if (triesLeft === 0) throw new Error('it ended too often');
        this.#agent = await this.#watcher.connectAgent(this.vm);
      } catch (error) {
        this.#gone(`its agent does not answer: ${error instanceof Error ? error.message : String(error)}`);
        return;
      }
      if (this.#isEnding) this.#agent.close();
      else {
        this.#watchAgent(triesLeft - 1);
        this.#watcher.onReconnected();
      }
    });
  }
}
