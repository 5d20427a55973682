import { BUDGET, idOf, SPENDING } from './event-maker.ts';

/** What the fake server answers, in the shapes of the contract. */

export const CONVERSATION = idOf(9);
export const NOW = '2026-03-01T10:00:00.000Z';

export function systemWith(models: string[]) {
  return {
    version: '0.1.0',
    startedAt: NOW,
    roles: ['api', 'worker'],
    components:
      models.length > 0
        ? []
        : [{ name: 'models', state: 'missing', detail: 'No language model is configured.' }],
    models: [{ role: 'main', models, scripted: models.some((model) => model.startsWith('script:')) }],
    tasks: {},
    processes: [],
    queue: { queued: 0, oldestQueuedMs: null, running: 0, waiting: 0 },
    readAt: NOW,
    database: {
      version: '18',
      kind: 'embedded',
      bytes: 0,
      connections: 1,
      maxConnections: 100,
      roundTripMs: 1,
    },
  };
}

/** Nothing is set up but what answers; who looks may change that. */
export function modelSetupWith(models: string[]) {
  return { providers: [], ollama: null, mainModels: models, mayChange: true };
}

export function taskShape(id: string) {
  return {
    id,
    conversationId: CONVERSATION,
    parentId: null,
    rootId: id,
    depth: 0,
    round: null,
    index: null,
    dependsOn: [],
    kind: 'chat',
    role: null,
    state: 'running',
    title: 'a task',
    tier: null,
    complexity: 'simple',
    estimatedDuration: 'short',
    budget: BUDGET,
    spending: SPENDING,
    spentBelow: { tokens: 0, costUsd: 0 },
    waitingFor: null,
    tainted: false,
    result: null,
    success: null,
    error: null,
    lastSeq: 1,
    createdAt: NOW,
    startedAt: NOW,
    endedAt: null,
  };
}

export function decidedApproval(id: string, body: Record<string, unknown>) {
  return {
    id,
    taskId: idOf(1),
    callId: 'c1',
    tool: 'run_command',
    arguments: {},
    argumentsHash: body['argumentsHash'],
    reason: '',
    risk: 'write',
    domain: 'code_execution',
    state: body['decision'],
    note: body['note'] ?? null,
    createdAt: NOW,
    expiresAt: NOW,
    decidedAt: NOW,
  };
}

/** The problem details for a folder that cannot be allowed. */
export function folderRefusal(path: string) {
  const why = 'it is not an absolute path of a folder here';
  return {
    code: 'path.not-allowed',
    title: `The folder ${JSON.stringify(path)} cannot be allowed: ${why}.`,
    hint: 'Name the folder of a project, for example /home/you/project.',
    errors: [{ path: 'allowedPaths', message: why }],
  };
}
