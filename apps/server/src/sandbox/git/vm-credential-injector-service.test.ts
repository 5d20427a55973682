import { expect, it } from 'vitest';
import type { OpenDeployKey } from '../../identity/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { Signal } from '../../kernel/signal-bus.ts';
import type { SandboxHost } from '../host/sandbox-host.ts';
import { VmCredentialInjectorService } from './vm-credential-injector-service.ts';

const keyOf = (repository: string, privateKey = 'private'): OpenDeployKey => ({
  repository,
  privateKey,
  hostKeys: [],
  mayBePrivate: false,
});

function setUp() {
  const calls: string[] = [];
  const keys = new Map([['ana', [keyOf('a'), keyOf('bad')]]]);
  let tell: (signal: Signal) => void = () => undefined;
  const host = {
    grantRepository: async (id: string, { repository }: OpenDeployKey) => {
      if (repository === 'bad') throw new AppError('repository.bad-address', 'It is bad.');
      calls.push(`grant ${id} ${repository}`);
    },
    revokeRepository: async (id: string, repository: string) => void calls.push(`revoke ${id} ${repository}`),
  } as unknown as SandboxHost;
  const injector = new VmCredentialInjectorService({
    deployKeys: {
      open: async (userId) => keys.get(userId) ?? [],
      noteUse: async (userId) => void calls.push(`used ${userId}`),
    },
    signals: {
      listen: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    logger: silentLogger,
  });
  const change = async (userId: string) => {
    tell({ kind: 'changed', what: 'secrets', userId });
    await settled();
  };
  return { calls, keys, host, injector, change, tell: (signal: Signal) => tell(signal) };
}

/** Nothing here waits for more than promises. */
const settled = () => new Promise(setImmediate);

it('grants what can be granted, and says what cannot', async () => {
  const { injector, host, calls } = setUp();
  expect(await injector.grant(host, 'vm', 'ana')).toEqual([
    'The deploy key of bad cannot be used: It is bad.',
  ]);
  expect(calls).toEqual(['grant vm a', 'used ana']);
});

it('follows keys that come and go while the VM runs, of its own user alone', async () => {
  const { injector, host, calls, keys, change } = setUp();
  keys.set('ana', [keyOf('a')]);
  await injector.grant(host, 'vm', 'ana');
  calls.length = 0;
  keys.set('ana', [keyOf('b')]);
  await change('ben');
  expect(calls).toEqual([]);
  await change('ana');
  expect(calls).toEqual(['revoke vm a', 'grant vm b']);
});

it('takes back a key whose place another one has taken, and gives that one', async () => {
  const { injector, host, calls, keys, tell } = setUp();
  keys.set('ana', [keyOf('a')]);
  await injector.grant(host, 'vm', 'ana');
  calls.length = 0;
  // Deleted and added anew: both are told before the list is read for the first.
  keys.set('ana', [keyOf('a', 'another')]);
  tell({ kind: 'changed', what: 'secrets', userId: 'ana' });
  tell({ kind: 'changed', what: 'secrets', userId: 'ana' });
  await settled();
  expect(calls).toEqual(['revoke vm a', 'grant vm a']);
});

it('gives a VM all keys at each start, and takes back what went while its host was away', async () => {
  const { injector, host, calls, keys, change } = setUp();
  keys.set('ana', [keyOf('a'), keyOf('b')]);
  await injector.grant(host, 'vm', 'ana');
  const { revokeRepository } = host;
  host.revokeRepository = () => Promise.reject(new AppError('sandbox.unreachable', 'It is away.'));
  keys.set('ana', [keyOf('a')]);
  await change('ana');
  host.revokeRepository = revokeRepository;
  calls.length = 0;
  await injector.grant(host, 'vm', 'ana');
  expect(calls).toEqual(['revoke vm b', 'grant vm a', 'used ana']);
});
