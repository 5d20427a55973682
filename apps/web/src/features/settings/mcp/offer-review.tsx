import type { McpServer, McpToolDefinition } from '@vitto/contracts';
import type { ReactNode } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { diffTools, type ToolsDifference } from './diff-tools.ts';
import { approveServer } from './mcp-api.ts';
import { mcpStrings } from './strings.ts';
import { TextDifference } from './text-difference.tsx';
import { ToolText } from './tool-text.tsx';
import { useServerCache } from './use-servers.ts';

/** What nobody has approved yet: all of it for a new server, else what is different, old beside new. */
export function OfferReview({ server }: { server: McpServer }) {
  const words = useFeatureStrings(mcpStrings);
  const { client } = useVitto();
  const { put, refresh } = useServerCache();
  const offered = server.offeredTools ?? [];
  const isFirst = server.approvedHash === null;
  const approve = useAction(async (key) => {
    try {
      put(await approveServer(client, server.id, server.offeredHash ?? '', key));
    } catch (error) {
      // It may offer something else by now: that is to be seen first.
      void refresh();
      throw error;
    }
  });
  return (
    <section
      aria-label={isFirst ? words.offered(offered.length) : words.changedTitle}
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-amber-line bg-amber-soft p-3"
    >
      <div>
        <h4 className="font-semibold text-amber">
          {isFirst ? words.offered(offered.length) : words.changedTitle}
        </h4>
        <p>{isFirst ? words.offeredText : words.changedText}</p>
      </div>
      {isFirst ? (
        <Tools tools={offered} />
      ) : (
        <Difference difference={diffTools(server.approvedTools, offered)} />
      )}
      <ActionFailure title={words.notApproved} error={approve.error} />
      <Button
        look="primary"
        className="min-h-9 justify-self-start"
        aria-disabled={approve.isBusy}
        onClick={() => void approve.run()}
      >
        {isFirst ? words.approve(offered.length) : words.approveChange}
      </Button>
    </section>
  );
}

function Tools({ tools }: { tools: readonly McpToolDefinition[] }) {
  return (
    <ul className="grid max-h-[60dvh] grid-cols-[minmax(0,1fr)] gap-2 overflow-y-auto" tabIndex={0}>
      {tools.map((tool) => (
        <li
          key={tool.name}
          className="grid grid-cols-[minmax(0,1fr)] gap-1 rounded-md border border-line bg-surface p-2.5"
        >
          <code className="mono font-medium break-all">{tool.name}</code>
          <ToolText tool={tool} />
        </li>
      ))}
    </ul>
  );
}

function Difference({ difference }: { difference: ToolsDifference }) {
  const words = useFeatureStrings(mcpStrings);
  const { added, removed, changed, unchanged } = difference;
  return (
    <>
      {added.length > 0 && (
        <Group title={words.added}>
          <Tools tools={added} />
        </Group>
      )}
      {removed.length > 0 && (
        <Group title={words.removed}>
          <p className="mono break-all">{removed.map((tool) => tool.name).join(', ')}</p>
        </Group>
      )}
      {changed.length > 0 && (
        <Group title={words.changed}>
          {changed.map(({ tool, parts }) => (
            <div
              key={tool.name}
              className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-md border border-line bg-surface p-2.5"
            >
              <code className="mono font-medium break-all">{tool.name}</code>
              {parts.map((part) => (
                <TextDifference key={part.part} part={part} />
              ))}
            </div>
          ))}
        </Group>
      )}
      {unchanged > 0 && <p className="text-muted">{words.unchanged(unchanged)}</p>}
    </>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <h5 className="font-medium">{title}</h5>
      {children}
    </div>
  );
}
