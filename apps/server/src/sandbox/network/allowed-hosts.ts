import type { NetworkPolicy } from '@vitto/contracts';

/** What `packageRegistries` lets through: the registries themselves and where they keep their files. */
export const PACKAGE_REGISTRIES = [
  'deb.debian.org',
  'security.debian.org',
  'ftp.debian.org',
  'cdn-fastly.deb.debian.org',
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'nodejs.org',
  'pypi.org',
  'files.pythonhosted.org',
] as const;

/** Whether the policy lets a VM reach this host (as `parseAuthority` gives it: plain, lower case, no dot at its end). */
export function isHostAllowed(policy: NetworkPolicy, host: string): boolean {
  const patterns = policy.packageRegistries ? [...PACKAGE_REGISTRIES, ...policy.hosts] : policy.hosts;
  return patterns.some((pattern) => matches(pattern, host));
}

/** `*.example.com` means every name below it, however deep, and not `example.com` itself. */
function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
