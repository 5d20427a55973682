import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { showProgress } from './progress.mjs';
import { runQuietly } from './run-program.mjs';
import { CACHE, ROOT, Stop, checkNode, findProgram, say } from './surroundings.mjs';

const INSTALL_LIMIT_MS = 15 * 60_000;

/** Installs the packages when `node_modules` is not what `package-lock.json` says. Costs some milliseconds when it is. */
export async function ensureNpmPackages({ mayInstall, root = ROOT }) {
  checkNode();
  if (isInstalled(root)) return;
  if (!mayInstall)
    throw new Stop('The packages are missing or old.', 'Run `npm ci`, or leave out --no-install.');
  const release = await lockInstall();
  try {
    // Another start may have installed them while we waited.
    if (!isInstalled(root)) await install(root);
  } finally {
    release();
  }
}

/**
 * True when the stamp left by the last installation fits the lock file, or, without a fitting stamp, when every
 * package of the lock file is there (somebody ran npm by hand).
 */
export function isInstalled(root = ROOT) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const stamp = join(root, 'node_modules/.vitto-install');
  try {
    if (readFileSync(stamp, 'utf8') === hash) return true;
  } catch {
    // none yet
  }
  if (!hasAllPackages(root, JSON.parse(lock.toString()))) return false;
  writeFileSync(stamp, hash);
  return true;
}

function hasAllPackages(root, lock) {
  let installed;
  try {
    installed = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages;
  } catch {
    return false;
  }
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (!path.includes('node_modules/') || wanted.link === true) return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return (
      found.version === wanted.version && found.integrity === wanted.integrity && existsSync(join(root, path))
    );
  });
}

async function install(root) {
  const npm = findNpm();
  const total = Object.keys(
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages,
  ).length;
  const done = showProgress(
    'installing the packages (once)',
    () => ` ${countPackages(root)} of about ${total}`,
  );
  // No package needs its install script here, so none may run one.
  const args = [...npm.args, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  let result = await runQuietly(npm.program, args, { cwd: root, timeoutMs: INSTALL_LIMIT_MS });
  // A registry that hiccups is asked once more.
  if (!result.ok && !result.interrupted)
    result = await runQuietly(npm.program, args, { cwd: root, timeoutMs: INSTALL_LIMIT_MS });
  done(result.ok ? 'done' : 'failed');
  if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
  if (result.ok) {
    isInstalled(root);
    return;
  }
  process.stderr.write(`${result.output.trim()}\n`);
  throw new Stop(
    '`npm ci` failed (its words are above).',
    'Check the network and the registry (`npm ping`), then start again.',
  );
}

/** npm as it started us, on the Node it runs on (ours may be the one inside `node_modules` that is being replaced). */
function findNpm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  if (script !== undefined && /npm-cli\.js$/.test(script) && node !== undefined && existsSync(node))
    return { program: node, args: [script] };
  const program = findProgram('npm', process.env.PATH);
  if (program === undefined)
    throw new Stop('npm is not installed.', 'It comes with Node; on Debian: `apt-get install npm`.');
  return { program, args: [] };
}

function countPackages(root) {
  const list = (folder) => {
    try {
      return readdirSync(folder).filter((name) => !name.startsWith('.'));
    } catch {
      return [];
    }
  };
  const top = list(join(root, 'node_modules'));
  return top.reduce(
    (sum, name) => sum + (name.startsWith('@') ? list(join(root, 'node_modules', name)).length : 1),
    0,
  );
}

/** One installation at a time in this clone; a lock of a dead process does not count. */
async function lockInstall() {
  const file = join(CACHE, 'install.lock');
  mkdirSync(CACHE, { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(readLock(file))) rmSync(file, { force: true });
    else {
      if (!told) say('another start is installing the packages; waiting for it.');
      await sleep(200);
    }
  }
}

function readLock(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
