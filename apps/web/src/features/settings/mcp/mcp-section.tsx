import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../../../api/session.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { Loaded, Part } from '../parts.tsx';
import { mcpQuery } from './mcp-api.ts';
import { EMPTY_SERVER, ServerForm } from './server-form.tsx';
import { ServerCard } from './server-card.tsx';
import { mcpStrings } from './strings.ts';

/** The MCP servers of a person: what they offer, and what of that is approved. */
export function McpSection() {
  const words = useFeatureStrings(mcpStrings);
  const { client } = useVitto();
  const servers = useQuery(mcpQuery(client));
  const isOwner = useSession().data?.role === 'owner';
  const [isAdding, setAdding] = useState(useDraft('mcp.add', EMPTY_SERVER).isChanged);
  return (
    <>
      <p className="max-w-prose text-muted">{words.text}</p>
      <Part
        title={words.list}
        actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
      >
        {isAdding && <ServerForm isOwner={isOwner} onClose={() => setAdding(false)} />}
        <Loaded query={servers}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="text-muted">{words.empty}</p>
            ) : (
              <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
                {items.map((server) => (
                  <ServerCard key={server.id} server={server} isOwner={isOwner} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Part>
    </>
  );
}
