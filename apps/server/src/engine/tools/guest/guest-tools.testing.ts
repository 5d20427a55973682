import type { GuestSession } from '@vitto/contracts';
import type { ArtifactAccess, Tool, ToolContext, ToolResult } from '../tool.ts';

/** Artifacts in memory; `failAfter` bytes writing fails, as on a full disk. */
export class FakeArtifacts implements ArtifactAccess {
  readonly kept = new Map<string, string>();
  readonly #failAfter: number;
  aborted = 0;
  constructor(failAfter = Number.POSITIVE_INFINITY) {
    this.#failAfter = failAfter;
  }
  save: ArtifactAccess['save'] = () => Promise.reject(new Error('not used'));
  read: ArtifactAccess['read'] = () => Promise.resolve(null);
  open: ArtifactAccess['open'] = (name, mediaType) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    return Promise.resolve({
      write: (chunk) => {
        bytes += chunk.length;
        if (bytes > this.#failAfter) return Promise.reject(new Error('no space left on device'));
        chunks.push(chunk);
        return Promise.resolve();
      },
      finish: () => {
        this.kept.set(name, Buffer.concat(chunks).toString('utf8'));
        return Promise.resolve({ id: 'artifact-1', name, mediaType, bytes, truncated: false });
      },
      abort: () => {
        this.aborted += 1;
        return Promise.resolve();
      },
    });
  };
}

/** Runs a tool with a guest that answers as told. */
export async function runTool(
  tool: Tool,
  input: unknown,
  guest: Partial<GuestSession> | Error,
  artifacts: ArtifactAccess = new FakeArtifacts(),
): Promise<{ result: ToolResult; progress: string[] }> {
  const progress: string[] = [];
  const context: ToolContext = {
    task: {
      id: 't',
      userId: 'u',
      conversationId: null,
      parentId: null,
      rootId: 't',
      depth: 0,
      allowedPaths: [],
    },
    callId: 'call-1',
    signal: new AbortController().signal,
    reportProgress: (stream, text) => void progress.push(`${stream}:${text}`),
    artifacts,
    claimGuest: () =>
      guest instanceof Error
        ? Promise.reject(guest)
        : Promise.resolve({ id: 'g', kind: 'process-sandbox', home: '/home/user', ...guest } as GuestSession),
    fillSecrets: (value) => Promise.resolve(value),
    isTainted: () => false,
    checkAcceptance: () => Promise.resolve(null),
    // No tool of a guest knows sub-Vittos.
    agents: {} as ToolContext['agents'],
    budgetLeft: () => ({ iterations: 1, tokens: null, costUsd: null, durationMs: null }),
  };
  const result = (await tool.run(tool.input.parse(input), context)) as ToolResult;
  return { result, progress };
}
