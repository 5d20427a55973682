import { GuestError, type ProcessOutput } from '@vitto/contracts';
import { newId } from '../../../kernel/ids.ts';
import { PROCESS_READ_BYTES, processText } from '../process-text.ts';
import { FLAG, TO_GUEST, TO_HOST } from './frame-types.ts';
import { execPayload, type GuestCommand } from './guest-command.ts';
import { readRecord, readRecorded, stopRecord } from './guest-records.ts';
import { withLimit, type CallLink } from './with-limit.ts';

/** How far back output is kept when more has come than anybody read. */
const KEPT_BYTES = 2 * 1024 * 1024;
const START_MS = 15_000;
const STOP_GRACE_MS = 2000;

/**
 * Processes that run on between calls. All that is known of them is in the guest's records: they are found again
 * after this process, its connection and the machine's memory have gone.
 */
export class GuestProcesses {
  readonly #link: CallLink;
  readonly #folder: string;

  /** @param folder where the guest keeps records. */
  constructor(link: CallLink, folder: string) {
    this.#link = link;
    this.#folder = folder;
  }

  async start(
    command: Pick<GuestCommand, 'argv' | 'cwd' | 'env' | 'signal'>,
  ): Promise<{ processId: string; pid: number }> {
    const processId = newId();
    const payload = execPayload({
      ...command,
      flags: FLAG.record | FLAG.detached,
      record: recordName(processId),
      timeoutMs: 0,
    });
    const { signal } = command;
    const pid = await withLimit(this.#link, { limitMs: START_MS, signal }, async (channel) => {
      channel.send(TO_GUEST.exec, payload);
      return (await channel.expect(TO_HOST.started)).u32();
    });
    return { processId, pid };
  }

  async read(processId: string, asked = 0, signal?: AbortSignal): Promise<ProcessOutput> {
    const name = recordName(processId);
    // The state first: what is read after a process has ended is all of its output.
    const { state, outcome } = await readRecord(this.#link, name, signal);
    if (state === 'unknown') throw noSuchProcess();
    const file = `${this.#folder}/${name}/stdout`;
    const read = (offset: number): ReturnType<typeof readRecorded> =>
      readRecorded(this.#link, file, { offset, length: PROCESS_READ_BYTES, signal });
    let offset = Math.max(0, Math.trunc(asked));
    let part = await read(offset);
    if (part.size - offset > KEPT_BYTES) {
      offset = part.size - KEPT_BYTES;
      part = await read(offset);
    }
    const start = Math.min(offset, part.size);
    const running = state === 'running';
    const hasEnded = state === 'ended';
    return {
      processId,
      running,
      exitCode: hasEnded ? outcome.exitCode : null,
      signal: hasEnded ? outcome.signal : null,
      ...processText(part.body, {
        asked: Math.max(0, Math.trunc(asked)),
        start,
        isLast: !running && start + part.body.length === part.size,
      }),
    };
  }

  async stop(processId: string, signal?: AbortSignal): Promise<ProcessOutput> {
    const { state } = await stopRecord(this.#link, recordName(processId), STOP_GRACE_MS, signal);
    if (state === 'unknown') throw noSuchProcess();
    return this.read(processId, 0, signal);
  }
}

/** @throws GuestError for what no `start` gave. */
function recordName(processId: string): string {
  if (!/^[0-9a-f-]{36}$/.test(processId)) throw noSuchProcess();
  return `p-${processId}`;
}

function noSuchProcess(): GuestError {
  return new GuestError('no-such-process', 'There is no such process.', 'Start it again.');
}
