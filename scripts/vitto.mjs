// Everything that `npm start`, `npm test`, `npm run …` do goes through here, so that each works on a fresh clone:
// it brings the packages, the missing system programs and the web app up to date, then runs the command under
// Node 24. Plain JavaScript without packages: it has to run on Node 20, before anything is installed.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { COMMANDS } from './bootstrap/commands.mjs';
import { ensureNpmPackages } from './bootstrap/npm-packages.mjs';
import { ensureSystemParts } from './bootstrap/system-parts.mjs';
import { ensureWebApp } from './bootstrap/web-app.mjs';
import { runProgram } from './bootstrap/run-program.mjs';
import { ROOT, Stop, node24, say } from './bootstrap/surroundings.mjs';

async function main([name = 'start', ...rest]) {
  const command = COMMANDS[name];
  if (command === undefined)
    throw new Stop(`There is no command ${name}; there are: ${Object.keys(COMMANDS).join(', ')}.`);
  const mayInstall = !rest.includes('--no-install');
  const args = rest.filter((arg) => arg !== '--no-install');

  await ensureNpmPackages({ mayInstall });
  const node = node24();
  // The first start runs on the system's Node and hands over to the one that has just been installed.
  if (node !== process.execPath) {
    process.exitCode = await runProgram(node, [process.argv[1], name, ...rest], { tie: true });
    return;
  }
  endWithParent();
  await ensureSystemParts(command.parts ?? [], { mayInstall });
  if (command.web && !args.includes('--headless')) await ensureWebApp();

  if (command.task !== undefined) {
    const task = await import(command.task);
    process.exitCode = await task.run(args);
    return;
  }
  const program = join(ROOT, command.run);
  if (!existsSync(program))
    throw new Stop(`${command.run} is not there.`, 'Is this a whole clone? See `git status`.');
  // In this very process: one process less to start, to signal and to leave behind.
  process.argv = [process.execPath, program, ...(command.args ?? []), ...args];
  await import(pathToFileURL(program).href);
}

/** When a `vitto.mjs` on an older Node is killed, the program that it handed over to ends as with SIGTERM. */
function endWithParent() {
  if (process.channel === undefined) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

main(process.argv.slice(2)).catch((error) => {
  if (error instanceof Stop) {
    say(error.message);
    if (error.hint !== undefined) say(error.hint);
  } else console.error(error);
  process.exitCode = error.exitCode ?? 1;
});
