import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { settingsStrings } from './strings.ts';

/** The one time that a secret of Vitto's own making is shown. */
export function ShownOnce(props: { title: ReactNode; secret: string; onClose: () => void }) {
  const words = useFeatureStrings(settingsStrings);
  return (
    <div
      role="status"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-amber-line bg-amber-soft p-3"
    >
      <p>
        <strong className="font-semibold break-words">{props.title}</strong> {words.once}
      </p>
      <code className="mono rounded-md border border-line bg-bg px-2.5 py-2 break-all select-all">
        {props.secret}
      </code>
      <div className="flex flex-wrap items-center gap-2">
        <CopyButton text={props.secret} label={words.copy} done={words.copied} />
        <Button look="quiet" onClick={props.onClose}>
          {words.keptIt}
        </Button>
      </div>
    </div>
  );
}
