import { AppError } from '../app-error.ts';

/** A git repository behind SSH. */
export interface Repository {
  user: string;
  /** Lower case. */
  host: string;
  port: number;
  /** As git asks a server for it: from the root (`/srv/a.git`), or without a slash from the user's home or forge (`org/a.git`). */
  path: string;
}

const SSH_PORT = 22;
/** Deploy keys belong to this user at every forge; git alone would take the name of who is signed in. */
const DEFAULT_USER = 'git';
const MAX_PATH = 512;
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/**
 * Reads `ssh://[user@]host[:port]/path` and `[user@]host:path` as git does.
 * @throws AppError `repository.bad-address`
 */
export function parseRepository(address: string): Repository {
  const text = address.trim();
  const url = /^(?:git\+)?ssh:\/\/(?:([^@/]*)@)?([^@/:]+)(?::([0-9]{1,5}))?\/(.*)$/i.exec(text);
  if (url !== null) {
    const [, user, host = '', port, rest = ''] = url;
    const decoded = decodePath(rest, address);
    const path = decoded.startsWith('~/') ? decoded.slice(2) : `/${decoded}`;
    return check({ user: user ?? DEFAULT_USER, host, port: Number(port ?? SSH_PORT), path }, address);
  }
  const short = /^(?:([^@/:]*)@)?([^@/:]+):(?!\/\/)(.*)$/.exec(text);
  if (short === null) throw badAddress(address);
  const [, user, host = '', rest = ''] = short;
  const path = rest.startsWith('~/') ? rest.slice(2) : rest;
  return check({ user: user ?? DEFAULT_USER, host, port: SSH_PORT, path }, address);
}

/** The one text of a repository: `ssh://user@host[:port]/path`, with `/~/` before a path that is not from the root. */
export function formatRepository({ user, host, port, path }: Repository): string {
  const encoded = path
    .split('/')
    .map((segment) => encodeURIComponent(segment).replaceAll('%40', '@').replaceAll('%2B', '+'))
    .join('/');
  const at = port === SSH_PORT ? host : `${host}:${port}`;
  return `ssh://${user}@${at}${path.startsWith('/') ? encoded : `/~/${encoded}`}`;
}

/** @throws AppError `repository.bad-address` */
export function normalizeRepository(address: string): string {
  return formatRepository(parseRepository(address));
}

/** As people write it: the short form where there is one. */
export function showRepository({ user, host, port, path }: Repository): string {
  if (path.startsWith('/') || port !== SSH_PORT) return formatRepository({ user, host, port, path });
  return `${user}@${host}:${path}`;
}

/**
 * Whether both may be meant for the same repository. Forges take a path with and without the first slash and the
 * `.git` at its end; a plain server does not, so whoever connects asks for the path in the form that was granted.
 */
export function isSameRepository(one: Repository, other: Repository): boolean {
  const plain = ({ path }: Repository) => path.replace(/^\//, '').replace(/\.git$/, '');
  return (
    one.user === other.user &&
    one.host === other.host &&
    one.port === other.port &&
    plain(one) === plain(other)
  );
}

function check(found: Repository, address: string): Repository {
  const host = found.host.toLowerCase().replace(/\.$/, '');
  const path = found.path.replace(/\/+$/, '');
  const segments = path.replace(/^\//, '').split('/');
  const isGood =
    HOST.test(host) &&
    !host.includes('..') &&
    USER.test(found.user) &&
    found.port >= 1 &&
    found.port <= 65_535 &&
    path.length <= MAX_PATH &&
    !/\p{Cc}/u.test(path) &&
    segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..') &&
    !/^[-~]/.test(segments[0] ?? '');
  if (!isGood) throw badAddress(address);
  return { ...found, host, path };
}

function decodePath(path: string, address: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw badAddress(address);
  }
}

function badAddress(address: string): AppError {
  const isWeb = /^https?:/i.test(address.trim());
  return new AppError('repository.bad-address', 'This is not the SSH address of a repository.', {
    status: 422,
    hint: isWeb
      ? 'A deploy key is for SSH: take the address that the forge shows under SSH, like git@github.com:org/name.git.'
      : 'Write git@host:org/name.git or ssh://git@host:port/path/name.git, without .. in it.',
  });
}
