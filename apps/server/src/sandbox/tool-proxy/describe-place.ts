import type { NetworkPolicy } from '@vitto/contracts';

/** What the model must know to work in a VM, once a task. */
export function describeVm(template: string, home: string, network: NetworkPolicy): string {
  const hosts = [
    ...(network.packageRegistries ? ['the package registries of Debian, npm and PyPI'] : []),
    ...network.hosts,
  ];
  const reach =
    hosts.length === 0
      ? 'it reaches no host'
      : `it reaches ${hosts.join(', ')} through the proxy that is set in the environment, and nothing else`;
  return `Commands run in a VM of the user (image "${template}", Debian): home ${home}, sudo without a password, files stay after the task; ${reach}.`;
}

/** What the model and the person must know of the process sandbox, once a task. */
export function describeDegraded(reason: string): string {
  return `No VM: ${reason} Commands run in the process sandbox: no network, 256 MiB of memory, 30 s of processor time a command; its files are removed when the task ends.`;
}
