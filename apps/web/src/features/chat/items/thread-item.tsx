import { memo } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import type { Item } from '../model/view.ts';
import { AnswerBlock } from './answer-block.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { EndLine } from './end-line.tsx';
import { Notice } from './notice.tsx';
import { QuestionCard } from './question-card.tsx';
import { RawEvent } from './raw-event.tsx';
import { ToolCard } from './tool-card.tsx';
import { UserMessage } from './user-message.tsx';
import { Whistle } from './whistle.tsx';

interface ThreadItemProps {
  item: Item;
  onAnswer: (callId: string, text: string) => Promise<ApiError | null>;
}

/** One item of the thread; drawn again only when it has changed. */
export const ThreadItem = memo(
  function ThreadItem({ item, onAnswer }: ThreadItemProps) {
    const content = drawItem(item, onAnswer);
    return content === null ? null : <li className="min-w-0">{content}</li>;
  },
  (before, after) => before.item === after.item,
);

function drawItem(item: Item, onAnswer: ThreadItemProps['onAnswer']) {
  switch (item.kind) {
    case 'user':
      return <UserMessage item={item} />;
    case 'answer':
      return isSilent(item) ? null : <AnswerBlock item={item} />;
    case 'tool':
      return item.tool === 'whistle_user' && item.state === 'ok' ? (
        <Whistle item={item} />
      ) : (
        <ToolCard item={item} />
      );
    case 'approval':
      return <ApprovalCard item={item} />;
    case 'question':
      return <QuestionCard item={item} onAnswer={onAnswer} />;
    case 'notice':
      return <Notice event={item.event} />;
    case 'end':
      return <EndLine item={item} />;
    case 'raw':
      return <RawEvent type={item.event.type} payload={item.event.payload} />;
  }
}

/** A turn that only called tools. */
function isSilent(item: Extract<Item, { kind: 'answer' }>): boolean {
  return item.text.trim() === '' && item.reasoning.trim() === '' && item.discarded.length === 0;
}
