import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { showProgress } from './progress.mjs';
import { runQuietly } from './run-program.mjs';
import { CACHE, Stop, findProgram, say } from './surroundings.mjs';

const isRoot = process.getuid?.() === 0;

/**
 * Programs that some parts need and npm cannot bring: any of `programs`, or all of `all`, by the package of each (an
 * absolute path is a file of a package without programs). PostgreSQL is not among them: its programs come with the
 * packages, and Debian's package would start a server of its own.
 */
const PARTS = {
  bubblewrap: {
    programs: ['bwrap'],
    debian: ['bubblewrap'],
    without: 'commands cannot run in the process sandbox',
  },
  chromium: {
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debian: ['chromium'],
    // Ubuntu has it as a snap only, which needs a running snapd.
    ubuntu: [],
    without: 'the tests of the web app in a browser are skipped',
  },
  vms: {
    all: {
      'qemu-system-x86_64': 'qemu-system-x86',
      'qemu-img': 'qemu-utils',
      mmdebstrap: 'mmdebstrap',
      gcc: 'gcc',
      lz4: 'lz4',
      mke2fs: 'e2fsprogs',
      '/usr/include/stdio.h': 'libc6-dev',
      '/usr/share/keyrings/debian-archive-keyring.gpg': 'debian-archive-keyring',
      // Others than root build images in a user namespace.
      ...(isRoot ? {} : { newuidmap: 'uidmap' }),
    },
    machine: 'x64',
    without:
      'no VMs or no images of them can be made here, commands run in the process sandbox where you allow it',
  },
};
const APT_LIMIT_MS = 10 * 60_000;
const ASK_AGAIN_MS = 24 * 3_600_000;
const NOTES = join(CACHE, 'system-parts.json');

/**
 * Installs what is missing where that is possible without asking (Debian or Ubuntu, as root or with sudo that
 * wants no password). Where it is not, says what will be missing and the command that adds it, and goes on.
 */
export async function ensureSystemParts(names, { mayInstall }) {
  const missing = names.filter((name) => isForThisMachine(PARTS[name]) && !isThere(PARTS[name]));
  if (missing.length === 0) return;
  const system = readSystem();
  const packages = missing.flatMap((name) => packagesOf(PARTS[name], system.id));
  const failure = mayInstall ? await tryInstall(system, packages) : 'by --no-install';
  const still = missing.filter((name) => !isThere(PARTS[name]));
  for (const name of still) {
    const command = system.hasApt
      ? `\`apt-get install ${packagesOf(PARTS[name], 'debian').join(' ')}\` as root adds it`
      : 'install it with your package manager';
    say(
      `without ${name}: ${PARTS[name].without}; ${command}${failure === undefined ? '' : ` (not installed: ${failure})`}.`,
    );
  }
}

/** VMs are made by QEMU on Linux, for one kind of processor so far; elsewhere nothing is missing. */
function isForThisMachine({ machine }) {
  return machine === undefined || (process.platform === 'linux' && process.arch === machine);
}

function isThere({ programs, all }) {
  return programs === undefined ? Object.keys(all).every(has) : programs.some(has);
}

function has(name) {
  return name.startsWith('/') ? existsSync(name) : findProgram(name) !== undefined;
}

/** The packages that are missing. */
function packagesOf(part, system) {
  if (part.all === undefined) return part[system] ?? part.debian;
  return Object.keys(part.all)
    .filter((name) => !has(name))
    .map((name) => part.all[name]);
}

/** Gives the reason when it could not be done. A reason found lately is not looked for again. */
async function tryInstall(system, packages) {
  if (!system.hasApt || packages.length === 0) return undefined;
  const key = packages.join(' ');
  const notes = readNotes();
  const last = notes[key];
  if (last !== undefined && Date.now() - last.at < ASK_AGAIN_MS && process.env.CI === undefined)
    return last.failure;
  const failure = await install(packages);
  if (failure !== undefined) writeNotes({ ...notes, [key]: { at: Date.now(), failure } });
  return failure;
}

async function install(packages) {
  const prefix = await findRootPrefix();
  if (prefix === undefined) return 'that takes root, or sudo without a password';
  const done = showProgress(`installing ${packages.join(', ')} with apt-get (once)`);
  const run = (...args) => runQuietly(prefix[0], [...prefix.slice(1), ...args], { timeoutMs: APT_LIMIT_MS });
  const add = () => run('install', '--yes', '--no-install-recommends', ...packages);
  // Old package lists name files that are gone; they are fetched anew only when they are needed.
  let result = hasPackageLists() ? await add() : { ok: false, interrupted: false, output: '' };
  if (!result.ok && !result.interrupted) {
    const update = await run('update');
    if (!update.interrupted) result = await add();
    else result = update;
  }
  done(result.ok ? 'done' : 'failed');
  if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
  if (result.ok) return undefined;
  const errors = result.output.split('\n').filter((line) => /^(E:|\()/.test(line));
  return errors.slice(-2).join(' ').replace(/^E: /, '') || 'apt-get failed';
}

/** The beginning of an apt-get command as root that never asks and never waits for long; `undefined` when we may not. */
async function findRootPrefix() {
  const settings = [
    'DEBIAN_FRONTEND=noninteractive',
    'NEEDRESTART_MODE=l',
    'APT_LISTCHANGES_FRONTEND=none',
    'LC_ALL=C',
  ];
  const limits = [
    'DPkg::Lock::Timeout=120',
    'Acquire::Retries=3',
    'Acquire::http::Timeout=30',
    'Acquire::https::Timeout=30',
    'Dpkg::Use-Pty=0',
    'Dpkg::Options::=--force-confold',
  ];
  const command = [
    '/usr/bin/env',
    ...settings,
    '/usr/bin/apt-get',
    '-q',
    ...limits.flatMap((limit) => ['-o', limit]),
  ];
  if (isRoot) return command;
  const sudo = findProgram('sudo');
  if (sudo === undefined) return undefined;
  const mayPass = await runQuietly(sudo, ['-n', 'true'], { timeoutMs: 5_000 });
  return mayPass.ok ? [sudo, '-n', ...command] : undefined;
}

function readSystem() {
  const hasApt = existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get');
  let release = '';
  try {
    release = readFileSync('/etc/os-release', 'utf8');
  } catch {
    // not a Linux that says what it is
  }
  return { hasApt, id: /^ID="?(\w+)/m.exec(release)?.[1] ?? 'unknown' };
}

function hasPackageLists() {
  try {
    return readdirSync('/var/lib/apt/lists').some((name) => /_(Packages|InRelease)(\.\w+)?$/.test(name));
  } catch {
    return false;
  }
}

function readNotes() {
  try {
    return JSON.parse(readFileSync(NOTES, 'utf8'));
  } catch {
    return {};
  }
}

function writeNotes(notes) {
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(NOTES, JSON.stringify(notes));
}
