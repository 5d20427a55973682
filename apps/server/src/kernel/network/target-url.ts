import { networkError } from './network-error.ts';

/**
 * Reads a URL that may be fetched: http or https, without a user name. Odd spellings of addresses (numbers in hex or
 * octal, full-width digits) come out of this in their one plain form.
 * @throws AppError `network.unsupported`
 */
export function parseTarget(url: string, base?: URL): URL {
  const target = URL.parse(url, base?.href);
  if (target === null) {
    throw networkError('unsupported', 'This is not a complete URL.', 'Begin it with https://.');
  }
  if (target.protocol !== 'https:' && target.protocol !== 'http:') {
    throw networkError('unsupported', `Only http and https are fetched, not ${target.protocol.slice(0, 40)}`);
  }
  if (target.username !== '' || target.password !== '') {
    throw networkError('unsupported', 'A URL with a user name or password in it is not fetched.');
  }
  target.hash = '';
  return target;
}

/** Where a redirect leads, with the bytes of the header read as UTF-8. */
export function parseLocation(location: string, from: URL): URL {
  const target = parseTarget(Buffer.from(location, 'latin1').toString('utf8'), from);
  if (from.protocol === 'https:' && target.protocol === 'http:') {
    throw networkError(
      'downgrade',
      `${from.host} sends on to an insecure address at ${target.host}; that is not followed.`,
      'Ask for the http address itself if it is really wanted.',
    );
  }
  return target;
}
