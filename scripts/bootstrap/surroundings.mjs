import { accessSync, constants, existsSync } from 'node:fs';
import { arch, platform } from 'node:process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** For what is worth keeping between runs and may be deleted at any time. */
export const CACHE = join(ROOT, '.cache');

const OLDEST_NODE = 20;
const PRODUCT_NODE = 24;

/** A failure that a person can mend: told without a stack. */
export class Stop extends Error {
  constructor(message, hint, exitCode = 1) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** One line to the person who started us; never on stdout, which belongs to the program. */
export function say(line) {
  process.stderr.write(`vitto: ${line}\n`);
}

export function checkNode() {
  if (majorOf(process.versions.node) >= OLDEST_NODE) return;
  throw new Stop(
    `This is Node ${process.versions.node}; Vitto needs ${OLDEST_NODE} or later.`,
    'Install it from https://nodejs.org or by your package manager.',
  );
}

/** Path of the Node that the product runs on: this one when it is new enough, else the one that came with the packages. */
export function node24() {
  if (majorOf(process.versions.node) >= PRODUCT_NODE) return process.execPath;
  const packaged = join(ROOT, `node_modules/node-${platform}-${arch}/bin/node`);
  if (existsSync(packaged)) return packaged;
  throw new Stop(
    `Vitto runs on Node ${PRODUCT_NODE}; this is ${process.versions.node}, and none came with the packages for ${platform}-${arch}.`,
    `Install Node ${PRODUCT_NODE} or later and start again, or run \`npm ci\` without --omit=optional.`,
  );
}

/** Full path of a program, or `undefined`. */
export function findProgram(name, path = process.env.PATH ?? '') {
  for (const folder of [...path.split(delimiter), '/usr/bin', '/usr/sbin']) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

function majorOf(version) {
  return Number.parseInt(version, 10);
}
