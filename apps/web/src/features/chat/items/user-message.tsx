import { useStrings } from '../../../i18n/strings-context.tsx';
import type { UserItem } from '../model/view.ts';

export function UserMessage({ item }: { item: UserItem }) {
  const strings = useStrings();
  return (
    <article className="appear ms-auto w-fit max-w-[85%] rounded-2xl rounded-ee-md bg-bubble px-4 py-2.5 text-base">
      <span className="sr-only">{strings.thread.you}: </span>
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
        {item.text.toWellFormed()}
      </p>
    </article>
  );
}
