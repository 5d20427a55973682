import { finished, type Duplex } from 'node:stream';
import { AppError } from '../../kernel/app-error.ts';
import type { VmSessionManagerService } from '../sessions/vm-session-manager-service.ts';

const PUBLIC_KEY = /^(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa) [A-Za-z0-9+/=]{20,4096}$/;
const AUTHORIZED_KEYS = '/home/user/.ssh/authorized_keys';

/** People's way into a guest: an sshd of their own for as long as their connection lasts, open to their key alone. */
export class SshAccess {
  readonly #manager: Pick<VmSessionManagerService, 'open'>;
  /** The keys of open connections, by machine. */
  readonly #keys = new Map<string, string[]>();

  constructor(manager: Pick<VmSessionManagerService, 'open'>) {
    this.#manager = manager;
  }

  /** @throws AppError `sandbox.bad-key`, `sandbox.not-found`; as `acquire` where the machine has to start. */
  async open(sandboxId: string, request: { userId: string; publicKey: string }): Promise<Duplex> {
    // A comment is nobody's business in there.
    const publicKey = request.publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
    if (!PUBLIC_KEY.test(publicKey))
      throw new AppError('sandbox.bad-key', 'That is no public key of OpenSSH in one line.', {
        hint: 'Give a line like "ssh-ed25519 AAAA…".',
      });
    const { sandbox, letGo } = await this.#manager.open(sandboxId, request.userId);
    const keys = this.#keys.get(sandboxId) ?? [];
    this.#keys.set(sandboxId, keys);
    keys.push(publicKey);
    const leave = (): void => {
      keys.splice(keys.indexOf(publicKey), 1);
      if (keys.length === 0) this.#keys.delete(sandboxId);
      letGo();
    };
    try {
      const content = keys.map((key) => `${key}\n`).join('');
      const file = { path: AUTHORIZED_KEYS, content, encoding: 'utf8' as const, mode: 0o600 };
      await sandbox.agent.guestOf(null).writeFile(file);
      const stream = sandbox.agent.connectSshd();
      finished(stream, leave);
      return stream;
    } catch (error) {
      leave();
      throw error;
    }
  }
}
