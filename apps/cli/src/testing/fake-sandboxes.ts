import type { ServerResponse } from 'node:http';
import type { SandboxHostInfo, SandboxInfo } from '@vitto/contracts';
import type { Handler } from './handler.ts';

/** The machines of a fake server: what there is, what is done to them, and what a command there prints. */
export class FakeSandboxes {
  readonly machines: SandboxInfo[] = [];
  readonly hosts: SandboxHostInfo[] = [];
  /** Writes the events of a command; the answer ends when it does not throw and nothing keeps it open. */
  onExec: (response: ServerResponse) => void = (response) => response.end();

  add(change: Partial<SandboxInfo>): SandboxInfo {
    const machine = { ...emptyMachine(), ...change };
    this.machines.push(machine);
    return machine;
  }

  routes(): [RegExp, Handler][] {
    const done: Handler = () => ({ status: 204, body: undefined });
    return [
      [
        /^GET \/api\/sandbox$/,
        () => ({ status: 200, body: { hosts: this.hosts, sandboxes: this.machines } }),
      ],
      [/^POST \/api\/sandbox\/([^/]+)\/(?:snapshot|destroy|forget)$/, done],
    ];
  }

  sendCommand(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.onExec(response);
  }
}

/** An event of a command as the server writes it; bytes go in base64. */
export function execFrame(event: string, data: unknown): string {
  const text = typeof data === 'string' ? Buffer.from(data).toString('base64') : JSON.stringify(data);
  return `event: ${event}\ndata: ${text}\n\n`;
}

export function ended(change: object = {}): string {
  const output = { text: '', totalBytes: 0, missingBytes: 0, replaced: false };
  return execFrame('result', {
    ...{ exitCode: 0, signal: null, timedOut: false, limit: null, durationMs: 5, leftoversKilled: 0 },
    ...{ stdout: output, stderr: output },
    ...change,
  });
}

function emptyMachine(): SandboxInfo {
  const at = new Date().toISOString();
  return {
    id: '11111111-0000-7000-8000-000000000001',
    userId: '22222222-0000-7000-8000-000000000002',
    template: 'developer',
    hostId: 'host',
    state: 'running',
    from: 'user-snapshot',
    acquireTimeMs: 420,
    stages: [],
    startedAt: at,
    lastUsedAt: at,
    memoryBytes: 211_000_000,
    memoryMib: 1024,
    cpus: 2,
    diskBytes: 64_000,
    claims: [],
    commands: [],
    snapshot: null,
  };
}
