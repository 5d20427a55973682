import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { McpTransport } from '@vitto/contracts';
import { fetch as undiciFetch, type Agent, type RequestInit as UndiciInit } from 'undici';
import { isOwnersAddress } from '../../kernel/network/address-policy.ts';
import { createGuardedAgent } from '../../kernel/network/guarded-agent.ts';
import type { Logger } from '../../kernel/logger.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { limitBody } from './limit-body.ts';
import { ProcessTransport } from './process-transport.ts';
import type { StartedPrograms } from './started-programs.ts';

/** A way to a server, not yet started. */
export interface OpenedTransport {
  transport: Transport;
  /** True when the server's program has ended. */
  hasEnded: () => boolean;
  /** What is known of why it does not work. */
  story: () => string | null;
  /** Lets go of what the transport itself does not close. */
  release: () => Promise<void>;
}

/** Noise of a program that is logged, at most. */
const NOISE_LINES = 20;
/** Streams may be silent for as long as a call may take; calls have limits of their own. */
const NEVER = 0;

/**
 * Opens the way to a server. `target` has its secrets filled in. An address that the owner named may be of this
 * machine or its network (never link-local or a metadata service); one of another user is public.
 */
export function openTransport(
  target: McpTransport,
  options: { isOwners: boolean; logger: Logger; programs: Pick<StartedPrograms, 'note'> },
): OpenedTransport {
  return target.kind === 'stdio' ? openProcess(target, options) : openHttp(target, options.isOwners);
}

function openProcess(
  target: Extract<McpTransport, { kind: 'stdio' }>,
  { logger, programs }: { logger: Logger; programs: Pick<StartedPrograms, 'note'> },
): OpenedTransport {
  const { command, args, env } = target;
  let noise = 0;
  const onNoise = (line: string): void => {
    noise += 1;
    if (noise <= NOISE_LINES)
      logger.info({ line: cutText(maskSecrets(line), 200) }, 'an MCP server wrote what is no message');
  };
  const transport = new ProcessTransport({ command, args, env, onNoise, programs });
  return {
    transport,
    hasEnded: () => transport.hasEnded,
    story: () => transport.story,
    release: () => Promise.resolve(),
  };
}

function openHttp(target: Extract<McpTransport, { kind: 'http' }>, isOwners: boolean): OpenedTransport {
  const agent = createGuardedAgent({
    silenceMs: NEVER,
    ...(isOwners ? { mayConnect: isOwnersAddress, mayUseLocalNames: true } : {}),
  });
  const transport = new StreamableHTTPClientTransport(new URL(target.url), {
    requestInit: { headers: target.headers },
    fetch: guardedFetch(agent),
    // Headers hold credentials: they go to no other origin.
    redirectPolicy: 'same-origin',
  });
  return { transport, hasEnded: () => false, story: () => null, release: () => agent.destroy() };
}

/** `fetch` as the SDK calls it, through the guard. The types of the platform's fetch and undici's differ in name only. */
function guardedFetch(agent: Agent): typeof fetch {
  return async (input, init) => {
    const request = { ...init, dispatcher: agent, redirect: 'manual' } as unknown as UndiciInit;
    const response = await undiciFetch(input as string | URL, request);
    return limitBody(response);
  };
}
