import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assembleContext, decideByRisk } from '../autonomy/index.ts';
import { demoCacheOf, startDemo } from '../demo/index.ts';
import {
  createMcpSource,
  createRegistryOpener,
  createSkillSource,
  McpConnections,
  McpServers,
  Skills,
  StartedPrograms,
  type McpDependencies,
} from '../extensions/index.ts';
import {
  chooseRoleModels,
  createAgentTools,
  createCoreTools,
  createWebTools,
  expireLeases,
  createGitPush,
  createGuestTools,
  ModelLimiter,
  SubVittoOrchestratorService,
  ToolRegistry,
  type EvaluateGate,
} from '../engine/index.ts';
import {
  assertNoRotation,
  DeployKeys,
  ensureOwner,
  isOwner,
  ModelProviders,
  openVault,
  readSettings,
  Secrets,
  type User,
} from '../identity/index.ts';
import { OutcomeFeedbackService } from '../intelligence/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createGuardedFetch } from '../kernel/network/guarded-fetch.ts';
import { isOwnersAddress } from '../kernel/network/address-policy.ts';
import { Notices } from '../notices/index.ts';
import { WakeQueue } from '../kernel/queue.ts';
import { joinProcesses, removeDeadProcesses } from '../kernel/process-registry.store.ts';
import { SignalBus } from '../kernel/signal-bus.ts';
import { describeSandbox, readSystemStatus } from '../ops/index.ts';
import { cancelRun, steerRun, Worker, type RunDependencies } from '../runs/index.ts';
import type { Config } from './config.ts';
import { createFolderCheck, resolveAllowedPaths } from './allowed-folders.ts';
import { SandboxedToolProxyService, VmCredentialInjectorService } from '../sandbox/index.ts';
import { Guests } from './guests.ts';
import { createHttpServer } from './http/create-http-server.ts';
import { createSandboxServer } from './http/create-sandbox-server.ts';
import { ModelAccess } from './model-access.ts';
import { ModelSetupService } from './model-setup.ts';
import { Models } from './models.ts';
import { openInstallation, type Installation } from './open-installation.ts';
import { listenOn } from './listen-on.ts';
import { openSandboxTier } from './sandbox-tier.ts';
import { publishAddress } from './server-address.ts';
import { createStops } from './stops.ts';
import { createStartCode, ensureStartToken, recordWebhookDisabled } from './system-acts.ts';
import { VERSION } from './version.ts';

/** Push services want an address that they could write to; nothing of a self-hosted Vitto is reachable for them. */
const PUSH_CONTACT = 'mailto:vitto@vitto.invalid';
const WEB_ROOT = fileURLToPath(new URL('../../../web/dist', import.meta.url));

/** A running Vitto process. */
export interface Vitto {
  installation: Installation;
  owner: User;
  runs: RunDependencies;
  /** Where it is reached; `null` for a worker. */
  url: string | null;
  /** Makes a code with which the owner signs in, for a link that is printed where Vitto was started. */
  createSignInCode: () => Promise<string>;
  stop: () => Promise<void>;
}

/**
 * Starts the roles of the configuration; what is started first is stopped last. `tell`: what goes on in the background
 * that who started it should know, a sentence each.
 */
export async function startVitto(
  config: Config,
  tell: (line: string) => void = () => undefined,
): Promise<Vitto> {
  const startedAt = new Date();
  const stops = createStops();
  const { run: stop } = stops;
  try {
    // A list that is wrong is said at start, not at the first task.
    chooseRoleModels(config.models);
    const installation = await openInstallation(config);
    stops.push(installation.close);
    const { database, logger, databaseUrl, sandbox } = installation;
    const vault = await openVault({ home: config.home, setting: config.masterKey });
    const modelAccess = new ModelAccess(config.models, new ModelProviders({ database, vault, logger }));
    const limiter = new ModelLimiter(systemClock);
    const models = new Models({ readSettings: () => modelAccess.settings(), prices: config.prices });

    const dead = await removeDeadProcesses(database);
    const freed = await expireLeases(database.pool, dead);
    if (freed.length > 0) logger.info({ tasks: freed }, 'took tasks over from a process that died here');
    const self = await joinProcesses(database, { roles: config.roles, version: VERSION });
    stops.push(self.leave);
    // A rotation that began after the vault was opened sees this process only now, or is seen by it.
    await assertNoRotation({ home: config.home, setting: config.masterKey });

    const isWorker = config.roles.includes('worker');
    const signals = new SignalBus({
      url: databaseUrl,
      publish: (text, values) => database.pool.query(text, values),
      logger,
    });
    await signals.start();
    stops.push(() => signals.stop());
    const deployKeys = new DeployKeys({ database, vault, signals, logger });
    const secrets = new Secrets({
      database,
      vault,
      signals,
      logger,
      readOthers: (userId) => deployKeys.readMasked(userId),
    });
    const programs = new StartedPrograms(join(config.home, 'mcp-programs'));
    const orphans = await programs.sweep();
    if (orphans.length > 0) logger.info({ pids: orphans }, 'ended MCP servers of a process that died here');
    const mcp: McpDependencies = {
      database,
      fillSecrets: (userId, value) => secrets.fill(userId, value),
      logger,
      programs,
      signals,
      version: VERSION,
    };
    const queue = new WakeQueue({ url: databaseUrl, logger, isWorker });
    await queue.start();
    stops.push(() => queue.stop());
    const outcomes = new OutcomeFeedbackService({ database, queue, logger });
    await outcomes.start();
    stops.push(() => outcomes.stop());

    const owner = await ensureOwner(database);
    const tier = await openSandboxTier(config, installation, tell);
    stops.push(tier.stop);
    const readUserSettings = (userId: string) => readSettings(database, userId);
    const readStatus = (userId: string) =>
      readSystemStatus(
        {
          database,
          databaseKind: config.databaseUrl === null ? 'embedded' : 'external',
          probeSandbox: () => sandbox.probe(),
          sandboxHosts: () => tier.hosts.infos(),
          template: config.sandbox.developerTemplate,
          modelStatus: () => models.status(),
          version: VERSION,
          startedAt,
          roles: config.roles,
        },
        userId,
      );
    const runs: RunDependencies = {
      database,
      queue,
      signals,
      logger,
      rootBudget: config.rootBudget,
      readSettings: readUserSettings,
      checkModels: async (list, { userId, needsPrice }) => {
        await models.check(list, needsPrice);
        if (list !== null) await models.checkFiles(list, await isOwner(database, userId));
      },
      maxSubVittos: config.subVittos.maxParallel,
      resolveAllowedPaths: createFolderCheck(database, installation.secretFolders),
      outcomes,
    };

    const skills = new Skills(database);
    if (isWorker) {
      const injector = new VmCredentialInjectorService({ deployKeys, signals, logger });
      stops.push(async () => injector.stop());
      const guests = new Guests({
        proxy: new SandboxedToolProxyService({
          pool: tier.hosts,
          processSandbox: sandbox,
          degrade: config.sandbox.degrade,
          developerTemplate: config.sandbox.developerTemplate,
          readSettings: readUserSettings,
          grantDeployKeys: (host, sandboxId, userId) => injector.grant(host, sandboxId, userId),
          secretFolders: installation.secretFolders,
          logger,
        }),
        database,
        hasVms: config.sandbox.provider !== 'none' || config.sandbox.urls.length > 0,
        probeProcessSandbox: () => sandbox.probe(),
      });
      const web = createGuardedFetch();
      stops.push(web.close);
      const connections = new McpConnections(mcp);
      stops.push(() => connections.close());
      const builtIn = new ToolRegistry([
        createCoreTools(readStatus),
        createAgentTools(config.subVittos),
        createGuestTools(config.sandbox.defaultTimeoutMs),
        {
          name: 'git',
          tools: [createGitPush((taskId, repository, forMs) => guests.allowPush(taskId, repository, forMs))],
        },
        createWebTools({ fetch: web.fetch }),
      ]);
      const worker = new Worker({
        database,
        queue,
        bus: signals,
        signals,
        runs,
        openRegistry: createRegistryOpener(builtIn, [
          createSkillSource(database),
          createMcpSource({ database, connections, logger }),
        ]),
        listSkills: (userId) => skills.listEnabled(userId),
        orchestrator: new SubVittoOrchestratorService({
          database,
          limits: config.subVittos,
          steer: (request) => steerRun(runs, { ...request, source: 'deploy_agents' }),
          stop: (request) => cancelRun(runs, { ...request, by: 'the task that deployed it' }),
        }),
        evaluateGate: openGate(config),
        decide: decideByRisk,
        resolveModels: (task, settings) => models.resolve(task, settings),
        limiter,
        secrets,
        readSettings: readUserSettings,
        guests,
        sweepGuests: () => guests.sweep(),
        canHaveVm: (template) => guests.canHaveVm(template),
        dailyLimitNano: config.dailyCostUsd === null ? null : Math.round(config.dailyCostUsd * 1e9),
        clock: systemClock,
        logger,
        workerId: self.id,
        concurrency: config.workerConcurrency,
      });
      await outcomes.work();
      await worker.start();
      stops.push(() => worker.stop());
      void guests
        .sweep()
        .catch((error: unknown) => logger.warn({ err: error }, 'could not clear old sandboxes'));
    }

    const { token } = config.sandbox;
    const sandboxApi =
      tier.local === null || token === null
        ? null
        : await createSandboxServer({ host: tier.local, token, database, logger });
    let url: string | null = null;
    if (config.roles.includes('server')) {
      await ensureStartToken(database, owner.id, config.home);
      const publicWeb = createGuardedFetch();
      const ownersWeb = createGuardedFetch({ mayConnect: isOwnersAddress, mayUseLocalNames: true });
      stops.push(publicWeb.close, ownersWeb.close);
      const notices = new Notices({
        database,
        queue,
        signals,
        vault,
        fetchFor: async (userId) => ((await isOwner(database, userId)) ? ownersWeb : publicWeb).fetch,
        fetchPublic: publicWeb.fetch,
        readSettings: readUserSettings,
        contact: PUSH_CONTACT,
        recordDisabled: recordWebhookDisabled,
        logger,
      });
      await notices.start();
      stops.push(() => notices.stop());
      const app = await createHttpServer({
        notices,
        outcomes,
        database,
        signals,
        runs,
        readSystemStatus: readStatus,
        secrets,
        deployKeys,
        mcpServers: new McpServers(mcp),
        modelSetup: new ModelSetupService({
          access: modelAccess,
          models,
          limiter,
          readSettings: readUserSettings,
        }),
        startDemo: (by) =>
          startDemo(
            {
              // Its folder is Vitto's own copy of a public project: anybody may have it read.
              runs: {
                ...runs,
                resolveAllowedPaths: (paths) => resolveAllowedPaths(paths, installation.secretFolders),
              },
              cache: demoCacheOf(config.home),
              probeSandbox: () => sandbox.probe(),
            },
            by,
          ),
        sandboxHosts: tier.hosts,
        readSandboxState: async () => {
          const [probe, hosts] = await Promise.all([sandbox.probe(), tier.hosts.infos()]);
          return describeSandbox(probe, hosts, config.sandbox.developerTemplate).state;
        },
        commandTimeoutMs: config.sandbox.defaultTimeoutMs,
        sandboxApi,
        dailyCostUsd: config.dailyCostUsd,
        listMainModels: async (userId) => models.listMain(await readUserSettings(userId)),
        logger,
        version: VERSION,
        host: config.host,
        publicUrl: `http://${config.host}:${config.port}`,
        webRoot: WEB_ROOT,
      });
      url = await listenOn(app, config.host, config.port);
      stops.push(() => app.close());
      stops.push(await publishAddress(config.home, url));
    } else if (sandboxApi !== null) {
      await listenOn(sandboxApi, config.host, config.port);
      stops.push(() => sandboxApi.close());
    }
    const createSignInCode = () => createStartCode(database, owner.id);
    return { installation, owner, runs, url, createSignInCode, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The gate until trust is measured: every task that the user asked for starts. */
function openGate(config: Config): EvaluateGate {
  return (task) =>
    Promise.resolve(
      assembleContext(task, {
        now: Date.now(),
        tier: task.requestedTier ?? 'vm',
        // A VM is claimed at the first need of it; the gate boots nothing, and knows of none that is missing.
        degradedReason: null,
        startScore: config.trustStartScore,
      }),
    );
}
