import type { McpToolDefinition } from '@vitto/contracts';

/** A part of a tool that reads otherwise than before, as text. */
export interface ToolDifference {
  part: 'title' | 'description' | 'inputSchema' | 'hints';
  before: string;
  after: string;
}
export interface ToolsDifference {
  added: McpToolDefinition[];
  removed: McpToolDefinition[];
  changed: { tool: McpToolDefinition; parts: ToolDifference[] }[];
  unchanged: number;
}

/** What a server offers now against what was approved of it. */
export function diffTools(
  approved: readonly McpToolDefinition[],
  offered: readonly McpToolDefinition[],
): ToolsDifference {
  const before = new Map(approved.map((tool) => [tool.name, tool]));
  const after = new Set(offered.map((tool) => tool.name));
  const kept = offered.filter((tool) => before.has(tool.name));
  const changed = kept
    .map((tool) => ({ tool, parts: diffTool(before.get(tool.name) ?? tool, tool) }))
    .filter(({ parts }) => parts.length > 0);
  return {
    added: offered.filter((tool) => !before.has(tool.name)),
    removed: approved.filter((tool) => !after.has(tool.name)),
    changed,
    unchanged: kept.length - changed.length,
  };
}

function diffTool(before: McpToolDefinition, after: McpToolDefinition): ToolDifference[] {
  const parts: ToolDifference[] = [
    { part: 'title', before: before.title ?? '', after: after.title ?? '' },
    { part: 'description', before: before.description, after: after.description },
    { part: 'inputSchema', before: toText(before.inputSchema), after: toText(after.inputSchema) },
    { part: 'hints', before: toText(before.hints), after: toText(after.hints) },
  ];
  return parts.filter((part) => part.before !== part.after);
}

/** Keys in order: a server that only sorts them otherwise has changed nothing. */
function toText(value: unknown): string {
  return JSON.stringify(sorted(value), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

export interface LineDifference {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Line by line, with the longest common run of lines kept; texts too long for that stand whole beside each other. */
export function diffLines(before: string, after: string): LineDifference[] {
  const old = before.split('\n');
  const now = after.split('\n');
  if (old.length * now.length > MAX_CELLS) return [...mark(old, 'removed'), ...mark(now, 'added')];
  const lengths = commonLengths(old, now);
  const lines: LineDifference[] = [];
  let [at, to] = [0, 0];
  while (at < old.length && to < now.length) {
    if (old[at] === now[to]) {
      lines.push({ kind: 'same', text: old[at] ?? '' });
      [at, to] = [at + 1, to + 1];
    } else if ((lengths[at + 1]?.[to] ?? 0) >= (lengths[at]?.[to + 1] ?? 0)) {
      lines.push({ kind: 'removed', text: old[at] ?? '' });
      at += 1;
    } else {
      lines.push({ kind: 'added', text: now[to] ?? '' });
      to += 1;
    }
  }
  return [...lines, ...mark(old.slice(at), 'removed'), ...mark(now.slice(to), 'added')];
}

const MAX_CELLS = 1_000_000;

/** `[i][j]`: how many lines the ends of both texts from there on have in common, in order. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    for (let to = now.length - 1; to >= 0; to -= 1) {
      const row = lengths[at] as number[];
      row[to] =
        old[at] === now[to]
          ? 1 + (lengths[at + 1]?.[to + 1] ?? 0)
          : Math.max(lengths[at + 1]?.[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return lengths;
}

function mark(lines: readonly string[], kind: 'removed' | 'added'): LineDifference[] {
  return lines.map((text) => ({ kind, text }));
}
