import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';
import type { VmGuestSession } from '@vitto/contracts';
import { AgentConnection, type StreamHandler } from '../guest/agent/agent-connection.ts';
import { AgentGuestSession } from '../guest/agent/agent-guest-session.ts';
import type { Vm } from '../providers/sandbox-provider.ts';

const ENTROPY_BYTES = 256;
/** A guest that boots on a busy machine without KVM takes its time. */
const ANSWER_LIMIT_MS = 120_000;

/** What a guest is given at each start, so that no two of them are the same, whatever they were made from. */
export interface GuestIdentity {
  entropy: Buffer;
  /** 32 hexadecimal digits. */
  machineId: string;
  /** OpenSSH private key, ed25519. Known to the guest and to nobody else: the host forgets it. */
  hostKey: string;
  /** For whoever connects, one line of OpenSSH's form. */
  hostPublicKey: string;
}

export function makeGuestIdentity(): GuestIdentity {
  const { private: hostKey, public: hostPublicKey } = ssh2.utils.generateKeyPairSync('ed25519');
  return {
    entropy: randomBytes(ENTROPY_BYTES),
    machineId: randomBytes(16).toString('hex'),
    hostKey,
    hostPublicKey,
  };
}

/** The agent of a VM as sessions use it. A connection that broke is not mended: a new one is opened. */
export class SessionAgent {
  readonly connection: AgentConnection;
  readonly #sandboxId: string;

  /** Connects to the agent, which may still be coming up. Rejects when the VM ends meanwhile. @throws GuestError `unavailable` */
  static async open(vm: Vm, sandboxId: string, onOpen: StreamHandler): Promise<SessionAgent> {
    const gone = new AbortController();
    void vm.ended.then(({ reason }) => gone.abort(new Error(`the machine ended (${reason})`)));
    const options = { limitMs: ANSWER_LIMIT_MS, signal: gone.signal, onOpen };
    const connection = await AgentConnection.open(await vm.connectAgent(), options);
    return new SessionAgent(connection, sandboxId);
  }

  private constructor(connection: AgentConnection, sandboxId: string) {
    this.connection = connection;
    this.#sandboxId = sandboxId;
  }

  /** Settles when the connection has ended, whoever ended it. Never rejects. */
  get closed(): Promise<unknown> {
    return this.connection.ended;
  }

  /** Mends clock, randomness, machine id and keys of a guest that has just come up. Rejects when any of it is not so afterwards. */
  resume({ entropy, machineId, hostKey }: GuestIdentity): Promise<void> {
    return this.connection.resume({ entropy, machineId, hostKey, authorizedKeys: '' });
  }

  /** Resolves when what the guest's programs have written is on its disk. */
  sync(): Promise<void> {
    return this.connection.sync();
  }

  /** Calls of one task into the guest; `null`: of a person. */
  guestOf(taskId: string | null): VmGuestSession {
    return new AgentGuestSession(this.connection, { id: this.#sandboxId, taskId });
  }

  connectSshd(): Duplex {
    return this.connection.connectSshd();
  }

  close(): void {
    this.connection.close();
  }
}
