import { expect, it } from 'vitest';
import { EMPTY_TRANSPORT, fromDraft, toDraft } from './transport-draft.ts';

it('goes from a transport to its fields and back', () => {
  const stdio = { kind: 'stdio' as const, command: 'npx', args: ['-y', 'a b'], env: { KEY: '{{secret:K}}' } };
  expect(fromDraft(toDraft(stdio))).toEqual({ transport: stdio });
  const http = { kind: 'http' as const, url: 'https://a.example/mcp', headers: { 'x-key': 'v' } };
  expect(fromDraft(toDraft(http))).toEqual({ transport: http });
});

it('leaves lines without a name out, and keeps arguments as they are', () => {
  const draft = {
    ...EMPTY_TRANSPORT,
    kind: 'stdio' as const,
    command: ' npx ',
    args: ['', ' x'],
    env: [{ name: ' ', value: 'lost' }],
  };
  expect(fromDraft(draft)).toEqual({
    transport: { kind: 'stdio', command: 'npx', args: ['', ' x'], env: {} },
  });
});

it('names the field that is missing', () => {
  expect(fromDraft(EMPTY_TRANSPORT)).toEqual({ bad: 'url' });
  expect(fromDraft({ ...EMPTY_TRANSPORT, url: 'ftp://a.example' })).toEqual({ bad: 'url' });
  expect(fromDraft({ ...EMPTY_TRANSPORT, kind: 'stdio' })).toEqual({ bad: 'command' });
});
