/**
 * A command of `vitto` as the person who called this one can type it: in a checkout `vitto` is no command of the
 * shell, so what came through `npm run vitto` is answered with that. `command` is what follows `vitto`.
 */
export function commandLine(command: string, environment: NodeJS.ProcessEnv = process.env): string {
  // npm sets it to the name of the script that it runs.
  if (environment['npm_lifecycle_event'] !== 'vitto') return command === '' ? 'vitto' : `vitto ${command}`;
  const [name, ...rest] = command.split(' ');
  if (name === 'start') return ['npm start', ...(rest.length === 0 ? [] : ['--', ...rest])].join(' ');
  return command === '' ? 'npm run vitto --' : `npm run vitto -- ${command}`;
}
