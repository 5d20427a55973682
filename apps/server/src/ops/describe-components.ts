import type { ComponentStatus, ModelStatus, SystemStatus } from '@vitto/contracts';
import type { ProcessRecord } from '../kernel/process-registry.store.ts';
import type { QueueFigures } from '../engine/index.ts';

/** A task that waits longer than this for a worker says that the workers are too few, in milliseconds. */
const LONG_WAIT_MS = 60_000;
/** From this share of its connections on the database is short of them. */
const CONNECTIONS_SHORT = 0.9;

/** Each part of the installation as people see it: a state, what is so, and what to do about it. */

export function describeDatabase(database: Omit<SystemStatus['database'], 'kind'>): ComponentStatus {
  const detail = `PostgreSQL ${database.version}, ${Math.round(database.roundTripMs)} ms`;
  if (database.connections < database.maxConnections * CONNECTIONS_SHORT)
    return { name: 'database', state: 'ok', detail };
  return {
    name: 'database',
    state: 'degraded',
    detail: `${detail}; ${database.connections} of ${database.maxConnections} connections are taken`,
    hint: 'Raise max_connections of PostgreSQL, or start fewer workers.',
  };
}

export function describeQueue(queue: QueueFigures): ComponentStatus {
  const detail = `${queue.queued} queued, ${queue.running} running, ${queue.waiting} waiting`;
  if ((queue.oldestQueuedMs ?? 0) < LONG_WAIT_MS) return { name: 'queue', state: 'ok', detail };
  return {
    name: 'queue',
    state: 'degraded',
    detail: `${detail}; the first waits for ${Math.round((queue.oldestQueuedMs ?? 0) / 60_000)} min`,
    hint: 'Start another worker: npm run vitto -- worker. Or raise VITTO_WORKER_CONCURRENCY.',
  };
}

export function describeWorkers(processes: readonly ProcessRecord[]): ComponentStatus {
  const workers = processes.filter((one) => one.roles.includes('worker'));
  const alive = workers.filter((one) => one.isAlive).length;
  const silent = workers.length - alive;
  if (alive === 0) {
    return {
      name: 'workers',
      state: 'down',
      detail: 'none is running, tasks wait',
      hint: 'Start one: npm run vitto -- worker',
    };
  }
  if (silent === 0) return { name: 'workers', state: 'ok', detail: `${alive} running` };
  return {
    name: 'workers',
    state: 'degraded',
    detail: `${alive} running, ${silent} not heard of; what the silent ones ran is taken up by the others`,
    hint: 'Look at the machine of the silent process. It leaves this list when it starts again, or after a day.',
  };
}

/** The models as people see them. */
export function describeModels(models: ModelStatus[]): ComponentStatus {
  const main = models.find((model) => model.role === 'main');
  if (main === undefined || main.models.length === 0) {
    return {
      name: 'model',
      state: 'missing',
      detail: 'no model is set up',
      hint: 'Set one up in the settings under Models, or set a provider key (ANTHROPIC_API_KEY, …) or VITTO_MODEL and start again. `npm run demo` needs none.',
    };
  }
  return {
    name: 'model',
    state: 'ok',
    detail: `${main.models.join(', ')}${main.scripted ? ' (scripted)' : ''}`,
  };
}
