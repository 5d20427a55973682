import { GuestError } from '@vitto/contracts';
import { AgentFailure, type AgentChannel } from './agent-channel.ts';
import { guestErrorOf } from './agent-failures.ts';
import { ProtocolError } from './frame-codec.ts';

/** What calls need of a connection. */
export interface CallLink {
  /** @throws GuestError `session-lost` when the connection has ended. */
  openChannel(): AgentChannel;
  /** Ends the connection: the guest broke the protocol. */
  violate(error: ProtocolError): void;
}

/**
 * One call over a channel of its own, given up at its time limit or when the caller aborts.
 * @throws GuestError for what the guest refuses, and the signal's reason.
 */
export async function withLimit<T>(
  link: CallLink,
  { limitMs, signal }: { limitMs: number; signal?: AbortSignal | undefined },
  work: (channel: AgentChannel) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const channel = link.openChannel();
  const timer = setTimeout(() => {
    channel.giveUp(new GuestError('timed-out', `The machine took longer than ${limitMs} ms to answer.`));
  }, limitMs);
  const onAbort = (): void => channel.giveUp(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(channel);
  } catch (error) {
    throw toCallersError(link, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    channel.end();
  }
}

/** What a failed call means to whoever made it. */
export function toCallersError(link: CallLink, error: unknown): unknown {
  if (error instanceof AgentFailure) return guestErrorOf(error);
  if (!(error instanceof ProtocolError)) return error;
  link.violate(error);
  return new GuestError('session-lost', `The machine's agent broke its protocol: ${error.message}.`);
}
