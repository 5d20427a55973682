import type { Socket } from 'node:net';

export interface HostTraffic {
  host: string;
  connections: number;
  /** Bytes that left the VM for this host. */
  sentBytes: number;
  receivedBytes: number;
}

/** Further hosts are counted together, under `*`: a wildcard must not let a guest fill memory with names. */
const MAX_HOSTS = 500;

/** What went to which host, by name alone: no path, no content. */
export class Traffic {
  readonly #hosts = new Map<string, { done: HostTraffic; open: Set<Socket> }>();

  /** Counts a connection from now on until it is closed. */
  follow(host: string, socket: Socket): void {
    const name = this.#hosts.has(host) || this.#hosts.size < MAX_HOSTS ? host : '*';
    const entry = this.#hosts.get(name) ?? {
      done: { host: name, connections: 0, sentBytes: 0, receivedBytes: 0 },
      open: new Set<Socket>(),
    };
    this.#hosts.set(name, entry);
    entry.done.connections++;
    entry.open.add(socket);
    socket.once('close', () => {
      entry.open.delete(socket);
      add(entry.done, socket);
    });
  }

  read(): HostTraffic[] {
    return [...this.#hosts.values()].map(({ done, open }) => {
      const sum = { ...done };
      for (const socket of open) add(sum, socket);
      return sum;
    });
  }
}

function add(sum: HostTraffic, socket: Socket): void {
  sum.sentBytes += socket.bytesWritten;
  sum.receivedBytes += socket.bytesRead;
}
