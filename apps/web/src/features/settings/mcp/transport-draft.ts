import { mcpTransport, type McpTransport } from '@vitto/contracts';

/** What stands in the fields of a transport; both kinds are kept while people choose between them. */
export interface TransportDraft {
  kind: McpTransport['kind'];
  url: string;
  headers: Pair[];
  command: string;
  args: string[];
  env: Pair[];
}
export interface Pair {
  name: string;
  value: string;
}

export const EMPTY_TRANSPORT: TransportDraft = {
  kind: 'http',
  url: '',
  headers: [],
  command: '',
  args: [],
  env: [],
};

export function toDraft(transport: McpTransport): TransportDraft {
  return transport.kind === 'http'
    ? { ...EMPTY_TRANSPORT, kind: 'http', url: transport.url, headers: toPairs(transport.headers) }
    : {
        ...EMPTY_TRANSPORT,
        kind: 'stdio',
        command: transport.command,
        args: transport.args,
        env: toPairs(transport.env),
      };
}

/** The transport that is meant, or the field that keeps it from being one. */
export function fromDraft(draft: TransportDraft): { transport: McpTransport } | { bad: 'url' | 'command' } {
  const parsed = mcpTransport.safeParse(
    draft.kind === 'http'
      ? { kind: 'http', url: draft.url.trim(), headers: fromPairs(draft.headers) }
      : { kind: 'stdio', command: draft.command.trim(), args: draft.args, env: fromPairs(draft.env) },
  );
  if (parsed.success) return { transport: parsed.data };
  return { bad: draft.kind === 'http' ? 'url' : 'command' };
}

function toPairs(record: Record<string, string>): Pair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

/** A line without a name is one that was not filled in. */
function fromPairs(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(
    pairs.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );
}
