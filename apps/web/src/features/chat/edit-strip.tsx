import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';

/** Says that an earlier message is edited, and what that does. */
export function EditStrip({ onLeave, isBusy }: { onLeave: () => void; isBusy: boolean }) {
  const strings = useStrings();
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-amber-line bg-amber-soft px-3 py-1.5"
    >
      <Icon name="pencil" className="text-amber" />
      <p className="min-w-0 flex-1 basis-56">{strings.edit.editing}</p>
      <Button aria-keyshortcuts="Escape" aria-disabled={isBusy} onClick={() => !isBusy && onLeave()}>
        {strings.edit.cancel}
      </Button>
    </div>
  );
}
