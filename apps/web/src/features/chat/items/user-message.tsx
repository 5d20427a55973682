import { ArtifactLinks } from '../../../components/artifact-links.tsx';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { UserItem } from '../model/view.ts';
import { useThreadActions } from '../thread-actions.ts';

export function UserMessage({ item }: { item: UserItem }) {
  const strings = useStrings();
  const mayReplace = !item.isAnswer && item.replacedBy === undefined;
  return (
    <article className="appear group ms-auto flex max-w-full min-w-0 flex-row-reverse items-end gap-1">
      <div className="grid max-w-[80%] min-w-0 grid-cols-[minmax(0,auto)] justify-items-end gap-1.5 sm:max-w-[85%]">
        <div className="w-fit max-w-full rounded-2xl rounded-ee-md bg-bubble px-4 py-2.5 text-base">
          <span className="sr-only">{strings.thread.you}: </span>
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
            {item.text.toWellFormed()}
          </p>
        </div>
        {item.attachments.length > 0 && <ArtifactLinks artifacts={item.attachments} />}
      </div>
      {mayReplace && <Again item={item} />}
    </article>
  );
}

/** Edit and retry; while something runs they say why not. */
function Again({ item }: { item: UserItem }) {
  const strings = useStrings();
  const { edit, retry, whyNotEdit } = useThreadActions();
  const why = whyNotEdit === null ? null : strings.edit[whyNotEdit];
  return (
    <div className="flex shrink-0 pb-1.5 transition-opacity group-hover:opacity-100 focus-within:opacity-100 pointer-fine:opacity-0">
      <Act icon="pencil" label={strings.edit.edit} why={why} onAct={() => edit(item)} />
      <Act icon="again" label={strings.edit.retry} why={why} onAct={() => retry(item)} />
    </div>
  );
}

function Act(props: { icon: IconName; label: string; why: string | null; onAct: () => void }) {
  const { icon, label, why, onAct } = props;
  return (
    <button
      type="button"
      aria-label={label}
      aria-description={why ?? undefined}
      aria-disabled={why !== null}
      title={why === null ? label : `${label}. ${why}`}
      onClick={() => why === null && onAct()}
      className="grid size-7 place-content-center rounded-md text-muted hover:bg-sunken hover:text-ink aria-disabled:opacity-50"
    >
      <Icon name={icon} className="size-3.5" />
    </button>
  );
}
