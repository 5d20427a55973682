import type { EventPayload, KnownEvent } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { noticeOf } from './notices.ts';

const idOf = (end: string) => `00000000-0000-7000-8000-0000${end}`;
const ID = idOf('aaaaaaaa');
const at = { position: 1, taskId: idOf('00000001'), seq: 1, at: '2026-03-01T10:00:00.000Z' };

function lineOf<T extends KnownEvent['type']>(type: T, payload: EventPayload<T>): string | undefined {
  return noticeOf({ ...at, type, payload } as unknown as KnownEvent)?.text;
}

const spawned = { id: ID, parentTaskId: at.taskId, depth: 1, description: 'Find it.\nThen say where.' };
const completed = {
  id: ID,
  success: true,
  duration: 64_000,
  toolsUsed: [],
  cost: 0.12,
  result: 'It is\n\nhere.',
};

describe('what is told of those that a task has deployed', () => {
  it('begins with the round', () => {
    const round = { roundNumber: 2, subTaskIds: [ID, idOf('bbbbbbbb')], maxRounds: 3 };
    expect(lineOf('orchestrator.round', round)).toBe('Round 2 of 3: deploying 2 agents');
    expect(lineOf('orchestrator.round', { roundNumber: 1, subTaskIds: [ID] })).toBe(
      'Round 1: deploying 1 agent',
    );
  });

  it('says who each is, in one line, and whom it waits for', () => {
    expect(lineOf('subvitto.spawned', { ...spawned, role: null, tier: 'in-process' })).toBe(
      'Agent aaaaaaaa (no role, in-process): Find it. Then say where.',
    );
    const waits = { role: 'tester', tier: 'vm' as const, title: 'Test it', dependsOn: [idOf('cccccccc')] };
    expect(lineOf('subvitto.spawned', { ...spawned, ...waits })).toBe(
      'Agent aaaaaaaa (tester, vm, after cccccccc): Test it',
    );
  });

  it('says how a VM came, and that there was none where nobody reads along either', () => {
    const vm = { id: ID, vmId: 'v', restored: true, acquireTimeMs: 200 };
    expect(lineOf('subvitto.vm_acquired', vm)).toBe('Agent aaaaaaaa: VM restored in 0.2 s');
    expect(lineOf('subvitto.vm_acquired', { ...vm, restored: false, acquireTimeMs: 1_400 })).toBe(
      'Agent aaaaaaaa: VM booted in 1.4 s',
    );
    expect(lineOf('subvitto.vm_acquired', { ...vm, from: 'session' })).toBe('Agent aaaaaaaa: VM shared');
    const degraded = { id: ID, reason: 'no KVM', fallbackTier: 'process-sandbox' };
    const event = { ...at, type: 'subvitto.vm_degraded', payload: degraded } as unknown as KnownEvent;
    expect(noticeOf(event)).toEqual({
      text: 'Degraded: agent aaaaaaaa got no VM (no KVM); it runs in process-sandbox.',
      isImportant: true,
    });
  });

  it('says how each ended', () => {
    expect(lineOf('subvitto.completed', completed)).toBe(
      'Agent aaaaaaaa done (1 min 04 s, $0.12): It is here.',
    );
    expect(lineOf('subvitto.completed', { ...completed, success: false, cost: null })).toBe(
      'Agent aaaaaaaa not achieved (1 min 04 s, cost unknown): It is here.',
    );
    const failed = { id: ID, error: 'No tokens are left.', iteration: 4 };
    expect(lineOf('subvitto.failed', failed)).toBe('Agent aaaaaaaa failed: No tokens are left.');
    expect(lineOf('subvitto.failed', { ...failed, status: 'timeout', duration: 9_000 })).toBe(
      'Agent aaaaaaaa timed out (9.0 s): No tokens are left.',
    );
    expect(lineOf('subvitto.failed', { ...failed, status: 'cancelled' })).toMatch(/^Agent aaaaaaaa stopped/);
  });

  it('keeps a long report to a line, and lets nothing in it move the cursor', () => {
    const line = lineOf('subvitto.completed', { ...completed, result: `\u001b[2J${'🦊'.repeat(500)}` });
    expect(line?.length).toBeLessThan(220);
    expect(line?.isWellFormed()).toBe(true);
    expect(line).not.toContain('\u001b');
  });

  it('is quiet about their steps', () => {
    expect(lineOf('subvitto.progress', { id: ID, iteration: 3, currentTool: 'run_command' })).toBeUndefined();
  });
});
