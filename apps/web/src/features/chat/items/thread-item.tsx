import { memo } from 'react';
import type { Item } from '../model/view.ts';
import { LazyAgentsGroup } from '../agents/lazy-agents-group.tsx';
import { AnswerBlock } from './answer-block.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { EndLine } from './end-line.tsx';
import { Notice } from './notice.tsx';
import { QuestionCard } from './question-card.tsx';
import { RawEvent } from './raw-event.tsx';
import { ToolCard } from './tool-card.tsx';
import { UserMessage } from './user-message.tsx';
import { Whistle } from './whistle.tsx';

/** One item of the thread; drawn again only when it has changed. */
export const ThreadItem = memo(function ThreadItem({ item }: { item: Item }) {
  switch (item.kind) {
    case 'user':
      return <UserMessage item={item} />;
    case 'answer':
      return <AnswerBlock item={item} />;
    case 'tool':
      return item.tool === 'whistle_user' && item.state === 'ok' ? (
        <Whistle item={item} />
      ) : (
        <ToolCard item={item} />
      );
    case 'agents':
      return <LazyAgentsGroup item={item} />;
    case 'approval':
      return <ApprovalCard item={item} />;
    case 'question':
      return <QuestionCard item={item} />;
    case 'notice':
      return <Notice event={item.event} />;
    case 'end':
      return <EndLine item={item} />;
    case 'raw':
      return <RawEvent type={item.event.type} payload={item.event.payload} />;
  }
});
