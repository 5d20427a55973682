import { Link } from '@tanstack/react-router';
import { useInbox } from '../features/inbox/use-inbox.ts';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { shellStrings } from './strings.ts';

/** How many approvals and questions wait; nothing when none does. */
export function InboxCount() {
  const words = useFeatureStrings(shellStrings);
  const inbox = useInbox();
  const count = inbox.data?.entries.length ?? 0;
  if (count === 0) return null;
  const shown = `${count}${inbox.data?.hasMore === true ? '+' : ''}`;
  return (
    <span
      data-inbox-count={count}
      className="tabular block min-w-5 shrink-0 rounded-full bg-amber px-1.5 text-center text-xs leading-5 font-semibold text-bg"
    >
      <span aria-hidden="true">{shown}</span>
      <span className="sr-only">{words.waiting(shown)}</span>
    </span>
  );
}

/** The count on the sign of a place, as a way to the inbox. */
export function InboxBadge({ className }: { className: string }) {
  const inbox = useInbox();
  if ((inbox.data?.entries.length ?? 0) === 0) return null;
  return (
    <Link to="/vitto/inbox" className={`absolute grid size-6 place-content-center ${className}`}>
      <InboxCount />
    </Link>
  );
}
