import { join } from 'node:path';
import { showProgress } from '../bootstrap/progress.mjs';
import { runQuietly } from '../bootstrap/run-program.mjs';
import { ROOT, Stop, say } from '../bootstrap/surroundings.mjs';

/** `minimal` is what tests start VMs of; the demo's run in a VM of `developer`. */
const IMAGES = ['minimal', 'developer'];
const LIMIT_MS = 15 * 60_000;

/**
 * Makes the images that tests start VMs from where they are missing or of an older recipe, in the usual folder outside
 * the clone. Where that cannot be done says why: the tests that need them are skipped, and counted as such.
 */
export async function makeImages() {
  for (const name of IMAGES) {
    const done = showProgress(`making the image ${name} for VMs, unless it is there`);
    const args = [join(ROOT, 'apps/cli/src/main.ts'), 'image', 'build', name];
    const result = await runQuietly(process.execPath, args, {
      env: withoutSettings(process.env),
      timeoutMs: LIMIT_MS,
    });
    done(result.ok ? 'it is there' : 'failed');
    if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
    if (result.ok) continue;
    say(`tests that need a VM of ${name} are skipped or run without one: it could not be made.`);
    process.stderr.write(`${result.output.trim()}\n`);
  }
}

/** Tests look in the usual folder, whatever the user's own Vitto is set to. */
function withoutSettings(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('VITTO_')));
}
