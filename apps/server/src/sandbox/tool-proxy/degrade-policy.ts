import type { DegradePolicy } from '@vitto/contracts';

const ORDER: readonly DegradePolicy[] = ['allow', 'ask', 'never'];

/** The stricter of the installation's policy and the user's own: nobody is laxer than the installation. */
export function stricterPolicy(installation: DegradePolicy, own: DegradePolicy | null): DegradePolicy {
  if (own === null) return installation;
  return ORDER.indexOf(own) > ORDER.indexOf(installation) ? own : installation;
}
