import { AppError } from '../../kernel/app-error.ts';
import type { HostPool } from './host-pool.ts';

/** The pool of an installation without a VM tier (`VITTO_VM_PROVIDER=none` and no hosts elsewhere). */
export const NO_HOSTS: HostPool = {
  infos: () => Promise.resolve([]),
  acquire: () =>
    Promise.reject(new AppError('sandbox.unavailable', 'This installation has no sandbox host.')),
  hosts: () => [],
};
