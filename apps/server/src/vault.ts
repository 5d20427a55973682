import { openInstallation } from './app/open-installation.ts';
import { readConfig } from './app/config.ts';
import { recordRotation } from './app/system-acts.ts';
import { IDENTITY_SEALED, rotateMasterKey } from './identity/index.ts';
import { AppError, describeError } from './kernel/app-error.ts';
import { NOTICES_SEALED } from './notices/index.ts';

/** `vault.ts rotate`: changes the master key of this installation, which does not run. One line of JSON on stdout. */
async function main(): Promise<void> {
  if (process.argv[2] !== 'rotate') throw new AppError('vault.bad-usage', 'Say what: rotate.');
  const config = readConfig(process.env);
  const installation = await openInstallation(config);
  try {
    const tables = [...IDENTITY_SEALED, ...NOTICES_SEALED];
    const { database } = installation;
    const rotation = await rotateMasterKey(database, {
      home: config.home,
      setting: config.masterKey,
      tables,
    });
    await recordRotation(database, rotation);
    process.stdout.write(`${JSON.stringify({ result: rotation })}\n`);
  } finally {
    await installation.close();
  }
}

main().catch((error: unknown) => {
  const known = error instanceof AppError ? error : null;
  const said = { code: known?.code ?? 'internal', message: describeError(error), hint: known?.hint ?? null };
  process.stdout.write(`${JSON.stringify({ error: said })}\n`);
  process.exitCode = 1;
});
