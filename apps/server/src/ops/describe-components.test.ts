import { describe, expect, it } from 'vitest';
import { describeDatabase, describeQueue, describeWorkers } from './describe-components.ts';

const DATABASE = { version: '18.1', bytes: 1, connections: 3, maxConnections: 100, roundTripMs: 0.4 };
const QUEUE = { queued: 0, oldestQueuedMs: null, running: 0, waiting: 0, runningBy: {} };
const processOf = (isAlive: boolean, roles = ['worker']) => ({
  id: 'a',
  host: 'h',
  pid: 1,
  roles,
  version: '1',
  startedAt: new Date(),
  heartbeatAt: new Date(),
  isAlive,
});

describe('the parts of the installation', () => {
  it('are well when nothing is short', () => {
    expect(describeDatabase(DATABASE).state).toBe('ok');
    expect(describeQueue(QUEUE).state).toBe('ok');
    expect(describeWorkers([processOf(true)]).state).toBe('ok');
  });
  it('say what is short and what to do about it', () => {
    for (const part of [
      describeDatabase({ ...DATABASE, connections: 95 }),
      describeQueue({ ...QUEUE, queued: 4, oldestQueuedMs: 180_000 }),
      describeWorkers([processOf(true), processOf(false)]),
    ]) {
      expect(part.state).toBe('degraded');
      expect(part.hint).toBeDefined();
    }
    expect(describeWorkers([processOf(true, ['server'])]).state).toBe('down');
  });
});
