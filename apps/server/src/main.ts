import { readConfig } from './app/config.ts';
import { openBrowser } from './app/open-browser.ts';
import { readArguments } from './app/read-arguments.ts';
import { startSandboxHost, type SandboxHostProcess } from './app/start-sandbox-host.ts';
import { startVitto, type Vitto } from './app/start-vitto.ts';
import { AppError } from './kernel/app-error.ts';

// One program; VITTO_ROLES chooses what it does. The order of the boot is in app/start-vitto.ts.
async function main(): Promise<void> {
  const args = readArguments(process.argv.slice(2));
  const config = readConfig({ ...process.env, ...args.variables });
  const isHostOnly = config.roles.every((role) => role === 'sandbox');
  stopOnSignals(
    isHostOnly
      ? startSandboxHost(config, tell).then(announceHost)
      : startVitto(config, tell).then((vitto) => announce(vitto, args.mayOpen)),
  );
}

const tell = (line: string) => void process.stdout.write(`${line}\n`);

async function announce(vitto: Vitto, mayOpen: boolean): Promise<Vitto> {
  if (vitto.url === null) {
    process.stdout.write('Vitto is ready: a worker, waiting for tasks. Ctrl-C ends it.\n');
    return vitto;
  }
  const code = await vitto.createSignInCode();
  const link = `${vitto.url}/sign-in#code=${code}`;
  const isOpened = mayOpen && openBrowser(link, process.env);
  process.stdout.write(
    [
      `Vitto is ready: ${vitto.url}`,
      `${isOpened ? 'Opened in your browser. To sign in elsewhere' : 'To sign in'} (once, within 15 minutes): ${link}`,
      'In a terminal: npm run vitto -- chat "…"     Without a model: npm run demo     Ctrl-C ends it.',
      '',
    ].join('\n'),
  );
  return vitto;
}

function announceHost(host: SandboxHostProcess): SandboxHostProcess {
  process.stdout.write(
    `Vitto is ready: a sandbox host at ${host.url}. Servers and workers reach it with VITTO_SANDBOX_URL and the same VITTO_SANDBOX_TOKEN. Ctrl-C ends it.\n`,
  );
  return host;
}

/** The first signal stops in order, the second at once. */
function stopOnSignals(starting: Promise<{ stop: () => Promise<void> }>): void {
  let isStopping = false;
  const stop = () => {
    // At once means at once: an orderly exit would wait for threads that hang in the system.
    if (isStopping) process.kill(process.pid, 'SIGKILL');
    isStopping = true;
    process.stderr.write(
      'Vitto is stopping; running tasks go on at the next start. (Again to stop at once.)\n',
    );
    starting
      .then((started) => started.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  starting.catch((error: unknown) => {
    if (!isStopping) fail(error);
  });
}

function fail(error: unknown): never {
  if (error instanceof AppError) {
    process.stderr.write(`${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    process.exit(2);
  }
  process.stderr.write(`Vitto cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  if (process.env['VITTO_LOG_LEVEL'] === 'debug') process.stderr.write(`${(error as Error).stack ?? ''}\n`);
  process.exit(1);
}

main().catch(fail);
