import type { EventPayload } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { describeWaiting } from './waiting-text.ts';

const url = 'http://127.0.0.1:4800/vitto/t/1';
const id = '01890000-0000-7000-8000-000000000000';

it('says in the language of the user what is asked, what may be answered, and where', () => {
  const waitingFor = { kind: 'input' as const, callId: 'c', question: '¿Cuál?', choices: ['a', 'b'] };
  const end = { kind: 'waiting' as const, state: 'waiting_input' as const, waitingFor };
  const text = describeWaiting(end, { approvals: new Map(), language: 'es', url });
  expect(text).toBe(
    `Me he detenido aquí: necesito que me respondas.\n\n¿Cuál?\n\nPuedes responder:\n- a\n- b\n\nRespóndeme aquí y sigo: ${url}`,
  );
});

it('names each act that waits for approval, and says so when it knows none of them', () => {
  const waitingFor = { kind: 'approval' as const, approvalIds: [id] };
  const end = { kind: 'waiting' as const, state: 'waiting_approval' as const, waitingFor };
  const asked = { approvalId: id, tool: 'wipe', reason: 'it deletes' } as EventPayload<'approval.requested'>;
  const known = describeWaiting(end, { approvals: new Map([[id, asked]]), language: 'en', url });
  expect(known).toBe(
    `I have stopped here: I need your approval.\n\n- \`wipe\`: it deletes\n\nApprove or refuse it here, and I go on: ${url}`,
  );
  const unknown = describeWaiting(end, { approvals: new Map(), language: 'en', url });
  expect(unknown).toBe(
    `I have stopped here: I need your approval.\n\nApprove or refuse it here, and I go on: ${url}`,
  );
});
