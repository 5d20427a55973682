import { GuestError } from '@vitto/contracts';
import type { Clock } from '../../../kernel/clock.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';
import { str, u32, u64 } from './payload.ts';
import { withLimit, type CallLink } from './with-limit.ts';

/**
 * For all tries together. One takes 0.2 s on a host with thirty programs to a processor; giving up means that a guest's
 * memory is lost, or that it boots, which such a host is slower at still.
 */
const LIMIT_MS = 60_000;
/** How far a guest's clock may be from the host's (specification 02). */
const MAX_SKEW_MS = 2000;
/** A slow channel makes the time old that it carries: the message is sent again, and comes through faster then. */
const TRIES = 10;

export interface ResumeRequest {
  /** 32 to 256 bytes that no other guest was given. */
  entropy: Buffer;
  /** 32 hexadecimal digits. */
  machineId: string;
  /** OpenSSH private key, ed25519. */
  hostKey: string;
  /** Lines of authorized_keys. */
  authorizedKeys: string;
}

/** Sets what a guest must not share with the one it is a copy of, and proves that its clock is right. */
export async function resumeGuest(link: CallLink, clock: Clock, request: ResumeRequest): Promise<void> {
  const deadline = clock.monotonic() + LIMIT_MS;
  let skewMs = Infinity;
  for (let attempt = 0; attempt < TRIES && Math.abs(skewMs) > MAX_SKEW_MS; attempt += 1) {
    const limitMs = Math.ceil(deadline - clock.monotonic());
    if (limitMs <= 0) break;
    skewMs = await withLimit(link, { limitMs }, async (channel) => {
      channel.send(TO_GUEST.resume, resumePayload(clock.now(), request));
      const answer = await channel.expect(TO_HOST.resumed);
      return answer.i64() * 1000 + answer.u32() / 1e6 - clock.now();
    });
  }
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return;
  throw new GuestError(
    'unavailable',
    `The machine's clock is ${Math.round(skewMs)} ms off and cannot be set.`,
    'Destroy the machine; the next use boots its disk.',
  );
}

function resumePayload(
  nowMs: number,
  { entropy, machineId, hostKey, authorizedKeys }: ResumeRequest,
): Buffer {
  return Buffer.concat([
    u64(Math.floor(nowMs / 1000)),
    u32(Math.round((nowMs % 1000) * 1e6)),
    str(entropy),
    str(machineId),
    str(hostKey),
    str(authorizedKeys),
  ]);
}
