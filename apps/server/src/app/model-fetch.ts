import { ModelError } from '../engine/index.ts';

/**
 * The fetch of providers: a key goes to the address that was set up and nowhere else, so that redirects are told, not
 * followed.
 * @throws ModelError `model.redirected`.
 */
export const fetchWithoutRedirects: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, { ...init, redirect: 'manual' });
  if (response.status < 300 || response.status >= 400) return response;
  await response.body?.cancel();
  const target = response.headers.get('location');
  const host = target === null ? null : (URL.parse(target, response.url)?.host ?? null);
  throw new ModelError(
    'model.redirected',
    `The provider sends requests on to ${host ?? 'another address'}; keys are not sent there.`,
    'Set the address that it sends to as the base URL of the provider, if it is one that you trust.',
  );
};
