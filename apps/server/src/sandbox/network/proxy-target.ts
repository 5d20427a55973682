/** Where a request through the proxy wants to go. */
export interface ProxyTarget {
  /** Lower case, without a dot at its end. */
  host: string;
  port: number;
}

/** The ports of the web. Mail, databases and SSH of allowed hosts are not what a host is allowed for. */
const PORTS = new Set([80, 443]);
const MAX_NAME = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export type Refused = { refusal: string };

/**
 * Reads the target of a CONNECT (`host:port`). Names only, in plain ASCII: an address is refused in any spelling, so
 * that what is allowed and what is connected to is one thing.
 */
export function parseAuthority(authority: string, defaultPort: number | null): ProxyTarget | Refused {
  const parts = /^([A-Za-z0-9.-]+)(?::([0-9]{1,5}))?$/.exec(authority);
  if (parts === null) return { refusal: describeBadAuthority(authority) };
  const [, name = '', portText] = parts;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port === null) return { refusal: 'the port is missing' };
  const host = name.toLowerCase().replace(/\.$/, '');
  const labels = host.split('.');
  if (host.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) {
    return { refusal: 'this is not a host name' };
  }
  // Resolvers take a name that ends in a number for an address: 127.1, 0x7f.1, 2130706433.
  if (/^([0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return { refusal: ADDRESS };
  if (labels.length < 2) return { refusal: 'names without a dot belong to the host, not to the internet' };
  if (!PORTS.has(port)) return { refusal: `port ${port} is not one of the web (80, 443)` };
  return { host, port };
}

const ADDRESS = 'addresses are not connected to, only names';

function describeBadAuthority(authority: string): string {
  if (authority.includes('@')) return 'a user name or password does not belong in a request to the proxy';
  if (authority.includes('[')) return ADDRESS;
  return 'this is not a host name';
}

/** Reads the target of a plain request in absolute form (`http://host[:port]/path`); `path` goes on as it came. */
export function parseAbsoluteUrl(url: string): (ProxyTarget & { path: string }) | Refused {
  const parts = /^http:\/\/([^/?#\\]*)(.*)$/i.exec(url);
  if (parts === null) return { refusal: describeBadUrl(url) };
  const [, authority = '', rest = ''] = parts;
  const target = parseAuthority(authority, 80);
  if ('refusal' in target) return target;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  // A backslash, a fragment, a space, a control character or a byte beyond ASCII belongs in no request line.
  if (!/^[\x21\x22\x24-\x5b\x5d-\x7e]+$/.test(path))
    return { refusal: 'the path has a character that is not allowed' };
  return { ...target, path };
}

function describeBadUrl(url: string): string {
  if (/^https:/i.test(url)) return 'https goes through the proxy by CONNECT';
  if (url.startsWith('/')) return 'this is a proxy: ask for a whole URL, or CONNECT';
  return 'only http and https go through the proxy';
}
