import { expect, it } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { afterFailure, afterSending, beginEdit, leaveEdit, toAttempt, type Draft } from './draft.ts';

const draft = (change: Partial<Draft> = {}): Draft => ({
  text: 'mend it',
  files: [],
  edit: null,
  folders: ['/srv/a'],
  attempt: null,
  ...change,
});
const lost = new ApiError(0, 'network', 'gone');
const refused = new ApiError(422, 'path.not-allowed', 'no folder');

it('asks with the same key while it asks for the same, so that nothing is done twice', () => {
  const attempt = toAttempt(draft());
  expect(attempt).toMatchObject({ text: 'mend it', folders: ['/srv/a'], conversationId: null });
  expect(toAttempt(afterFailure(draft({ attempt }), lost))).toEqual(attempt);
});

it('asks anew after a refusal, and when the text or the folders are others', () => {
  const attempt = toAttempt(draft());
  const keys = [
    toAttempt(afterFailure(draft({ attempt }), refused)),
    toAttempt(draft({ attempt, text: 'mend it now' })),
    toAttempt(draft({ attempt, folders: ['/srv/a', '/srv/b'] })),
  ].map(({ key }) => key);
  expect(new Set([attempt.key, ...keys]).size).toBe(4);
});

it('keeps a conversation that was made, and with which folders, so that a change of them can be told', () => {
  const attempt = { ...toAttempt(draft()), conversationId: 'c' };
  const changed = draft({ attempt, folders: ['/srv/b'] });
  expect(toAttempt(changed)).toEqual(attempt);
  expect(toAttempt({ ...changed, text: 'other' })).toMatchObject({
    conversationId: 'c',
    folders: ['/srv/a'],
  });
});

const file = { id: 'f', name: 'a.png', mediaType: 'image/png', bytes: 7 };

it('asks anew when the files or the message that it stands in for are others', () => {
  const attempt = toAttempt(draft());
  const edit = { messageId: 'm', aside: { text: '', files: [] } };
  const keys = [draft({ attempt, files: [file] }), draft({ attempt, edit })].map((one) => toAttempt(one).key);
  expect(new Set([attempt.key, ...keys]).size).toBe(3);
});

it('sets aside what was typed while an earlier message is edited, and gives it back after', () => {
  const typed = draft({ text: 'half a thought', files: [file] });
  const editing = beginEdit(typed, { messageId: 'm', text: 'old words', attachments: [] });
  expect(editing).toMatchObject({ text: 'old words', files: [], edit: { messageId: 'm' } });
  const other = beginEdit({ ...editing, text: 'new words' }, { messageId: 'n', text: 'x', attachments: [] });
  for (const left of [leaveEdit(editing), leaveEdit(other), afterSending(editing)])
    expect(left).toMatchObject({ text: 'half a thought', files: [file], edit: null, attempt: null });
});
