import { useEffect, useRef, useState } from 'react';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { Strings } from '../../i18n/strings.en.ts';
import type { ConversationView, Item } from './model/view.ts';

/** Tells people who listen what matters, once each: work began, an answer, a question, an end. Never the text as it grows. */
export function Announcer({ view }: { view: ConversationView }) {
  const strings = useStrings();
  const said = useRef<string | null>(null);
  const [text, setText] = useState('');
  const last = findLastNews(view);
  const key = last === null ? '' : `${last.kind}:${last.key}:${hasAgentsAtWork(last)}`;

  useEffect(() => {
    // What was there when the page opened is no news.
    if (said.current !== null && said.current !== key && last !== null) setText(describe(last, strings));
    said.current = key;
  }, [key, last, strings]);

  return (
    <div role="status" className="sr-only">
      {text}
    </div>
  );
}

function findLastNews(view: ConversationView): Item | null {
  return (
    view.items.findLast((item) => ['user', 'agents', 'approval', 'question', 'end'].includes(item.kind)) ??
    null
  );
}

/** Of a group only its beginning and its end are news. */
function hasAgentsAtWork(item: Item): boolean {
  return item.kind === 'agents' && item.stage === 'running';
}

function describe(item: Item, strings: Strings): string {
  if (item.kind === 'approval') return strings.announce.approval(item.tool);
  if (item.kind === 'question') return `${strings.announce.question}: ${item.question}`;
  if (item.kind === 'agents')
    return hasAgentsAtWork(item) ? strings.announce.agents(item.agents.length) : strings.announce.agentsEnded;
  if (item.kind !== 'end') return strings.announce.working;
  if (item.outcome === 'completed') return strings.announce.answered;
  return item.outcome === 'failed' ? strings.announce.failed : strings.announce.cancelled;
}
