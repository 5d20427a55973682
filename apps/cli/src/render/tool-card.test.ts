import { expect, test } from 'vitest';
import type { EventPayload } from '@vitto/contracts';
import { describeCall, toolCard } from './tool-card.ts';

const called: EventPayload<'tool.called'> = {
  callId: 'c',
  turn: 1,
  tool: 'run_command',
  status: 'ok',
  text: '',
  durationMs: 2300,
  tier: 'vm',
};

test('a card says verb, object, state and time in one line', () => {
  const description = describeCall('run_command', { command: 'npm test\n\x1b]0;x\x07' });
  expect(toolCard(called, description)).toBe('✓ run npm test · 2.3 s');
  expect(toolCard({ ...called, status: 'timeout' }, description)).toBe('✗ run npm test · timed out · 2.3 s');
});

test('a tool that is not known is shown by its name, with an argument that says most', () => {
  expect(describeCall('make_tea', { sugar: true, name: 'green' })).toBe('make_tea green');
  expect(describeCall('make_tea', null)).toBe('make_tea');
});

test('where a call ran is said when it was not the worker itself', () => {
  expect(toolCard({ ...called, ranOn: { kind: 'process-sandbox' } }, 'run ls')).toBe(
    '✓ run ls · 2.3 s in the process sandbox',
  );
});

test('a call that waited for agents names no time: its own would leave out the wait', () => {
  const deploy = { ...called, tool: 'deploy_agents', durationMs: 3 };
  expect(toolCard(deploy, 'deploy agents')).toBe('✓ deploy agents');
  expect(toolCard({ ...deploy, status: 'error' }, 'deploy agents')).toBe('✗ deploy agents · failed');
});
