import { execFile } from 'node:child_process';
import { componentStatus, type ComponentStatus } from '@vitto/contracts';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { createContext, type Context } from '../context.ts';
import { serverProgram } from '../server-program.ts';
import { formatTable } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

const LOCAL_CHECKS_MS = 60_000;

interface Finding extends ComponentStatus {
  /** Who says so: the checks of this machine, this program, or the running server. */
  source: 'machine' | 'connection' | 'server';
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Say what is missing here, and how to mend it')
    .action(async (_options: unknown, command: Command) => {
      const context = createContext(command);
      const [machine, server] = await Promise.all([checkMachine(context), checkServer(context)]);
      const components = [...withoutGuess(machine, server), ...server];
      if (context.output.json) context.output.document({ components });
      else show(context, components);
      process.exitCode = components.some(({ state }) => state === 'down') ? EXIT.failed : EXIT.done;
    });
}

/**
 * The models that this machine's checks name are those of the environment. Keys that were entered in the app lie in
 * the database: the running server tells of both, and without it that is said.
 */
function withoutGuess(machine: Finding[], server: Finding[]): Finding[] {
  const isTold = server.some(({ source, name }) => source === 'server' && name === 'model');
  if (isTold) return machine.filter(({ name }) => name !== 'model');
  return machine.map((item) =>
    item.name === 'model'
      ? {
          ...item,
          detail: `${item.detail} (by the environment; keys entered in the app are not seen from here)`,
        }
      : item,
  );
}

const MARKS = { ok: '✓', degraded: '!', missing: '–', down: '✗' };

const HEADINGS = { machine: 'This machine', connection: 'Connection', server: 'The server' };

function show({ output }: Context, components: Finding[]): void {
  const rows = components.map((item) =>
    [`${MARKS[item.state]} ${item.name}`, item.state, item.detail].map(toPlainLine),
  );
  formatTable(rows).forEach((row, at) => {
    const source = components[at]?.source ?? 'machine';
    if (components[at - 1]?.source !== source) output.line(HEADINGS[source]);
    output.line(row);
    const hint = components[at]?.hint;
    if (hint !== undefined && components[at]?.state !== 'ok') output.line(`    ${toPlainLine(hint)}`);
  });
}

/** The server's own checks of this machine, run without a server: it prints `{ components }`. */
async function checkMachine({ environment }: Context): Promise<Finding[]> {
  try {
    const stdout = await runDoctor(serverProgram('doctor'), environment);
    const { components } = JSON.parse(stdout) as { components: unknown };
    return componentStatus
      .array()
      .parse(components)
      .map((item) => ({ ...item, source: 'machine' }));
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'They ended without a result.';
    return [finding('machine', 'local checks', 'degraded', why, 'Reinstall with "npm ci" in the checkout.')];
  }
}

function runDoctor(program: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const options = { env: environment, timeout: LOCAL_CHECKS_MS, maxBuffer: 10_000_000 };
  return new Promise((resolve, reject) => {
    // It may exit with 1 because something is down: what it printed counts.
    execFile(process.execPath, [program, '--json'], options, (error, stdout) =>
      stdout.trim() === '' ? reject(error ?? new Error('no output')) : resolve(stdout),
    );
  });
}

async function checkServer({ api }: Context): Promise<Finding[]> {
  const { origin } = api.url;
  try {
    const me = await api.readSession();
    const system = await api.readSystem();
    return [
      finding(
        'connection',
        'server',
        'ok',
        `version ${system.version} at ${origin}, roles ${system.roles.join(', ')}`,
      ),
      finding('connection', 'sign-in', 'ok', `${me.name} (${me.role})`),
      ...system.components.map((item): Finding => ({ ...item, source: 'server' })),
    ];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.exitCode === EXIT.notSignedIn) {
      return [
        finding('connection', 'server', 'ok', `it answers at ${origin}`),
        finding('connection', 'sign-in', 'down', error.message, error.hint),
      ];
    }
    return [finding('connection', 'server', 'down', error.message, error.hint)];
  }
}

function finding(
  source: Finding['source'],
  name: string,
  state: ComponentStatus['state'],
  detail: string,
  hint?: string,
): Finding {
  return { source, name, state, detail, ...(hint === undefined ? {} : { hint }) };
}
