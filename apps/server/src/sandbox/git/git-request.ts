import { parseRepository, type Repository } from '../../kernel/ssh/repository.ts';

/** What a guest's git wants of a server. */
export interface GitRequest {
  verb: 'git-upload-pack' | 'git-receive-pack';
  repository: Repository;
  /** Git's protocol version 2 was asked for, which a server is told of in its environment. */
  isVersion2: boolean;
}

const MAX_BYTES = 4096;

/**
 * Reads the arguments that git gave its ssh command, each followed by NUL. Only what git itself says is taken: no
 * option of ssh but the port, one host, one command, one path.
 * @throws GitRefusal
 */
export function parseGitRequest(about: Buffer): GitRequest {
  if (about.length > MAX_BYTES || about.at(-1) !== 0) throw new GitRefusal('the request cannot be read');
  const args = about.toString('utf8').slice(0, -1).split('\0');
  let port = 22;
  let isVersion2 = false;
  while (args[0]?.startsWith('-') === true) {
    const option = args.shift();
    if (option === '-4' || option === '-6') continue;
    const value = args.shift() ?? '';
    if (option === '-p' && /^[0-9]{1,5}$/.test(value)) port = Number(value);
    else if (option === '-o' && value === 'SendEnv=GIT_PROTOCOL') isVersion2 = true;
    else throw new GitRefusal(`ssh options are not taken here (${plain(option ?? '')})`);
  }
  const [destination = '', command = '', ...more] = args;
  if (!/^[^:/]+$/.test(destination) || command === '' || more.length > 0) {
    throw new GitRefusal('this connection is for git alone: no shell, no other program');
  }
  return { ...readCommand(command, destination, port), isVersion2 };
}

function readCommand(command: string, destination: string, port: number): Omit<GitRequest, 'isVersion2'> {
  const parts = /^(git[ -](?:upload-pack|receive-pack)) ('(?:[^'!]|'\\['!]')*')$/.exec(command);
  if (parts === null) {
    throw new GitRefusal(`only fetching and pushing go through here (${plain(command)})`);
  }
  const verb = (parts[1] ?? '').replace(' ', '-') as GitRequest['verb'];
  const path = unquote(parts[2] ?? '');
  const at = destination.includes('@') ? destination : `git@${destination}`;
  try {
    // As git took it apart: the path is from the root when it begins with a slash.
    const { user, host, path: checked } = parseRepository(`${at}:${path}`);
    if (port < 1 || port > 65_535) throw new GitRefusal('this is not a port');
    return { verb, repository: { user, host, port, path: checked } };
  } catch {
    throw new GitRefusal(`this is not the address of a repository (${plain(`${at}:${path}`)})`);
  }
}

/** Undoes what git's own quoting does: `'` and `!` stand outside of the quotes, after a backslash. */
function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/'\\(['!])'/g, '$1');
}

/** Quotes for the shell of the server. */
export function quotePath(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Text of a guest or a server as it may stand in a message: short, and without control characters. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?').slice(0, 200);
}

/** Why git is not let through; git shows it to whoever ran it. */
export class GitRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GitRefusal';
  }
}
