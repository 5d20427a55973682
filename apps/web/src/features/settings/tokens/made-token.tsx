import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { settingsStrings } from '../strings.ts';
import { tokensStrings } from './strings.ts';
import type { CreatedToken } from './tokens-api.ts';

/** The one time that a token is shown. */
export function MadeToken({ token, onClose }: { token: CreatedToken; onClose: () => void }) {
  const words = useFeatureStrings(tokensStrings);
  const common = useFeatureStrings(settingsStrings);
  return (
    <div
      role="status"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-amber-line bg-amber-soft p-3"
    >
      <p>
        <strong className="font-semibold">{words.made(token.name.toWellFormed())}</strong> {words.once}
      </p>
      <code className="mono rounded-md border border-line bg-bg px-2.5 py-2 break-all select-all">
        {token.token}
      </code>
      <div className="flex flex-wrap items-center gap-2">
        <CopyButton text={token.token} label={common.copy} done={common.copied} />
        <Button look="quiet" onClick={onClose}>
          {words.close}
        </Button>
      </div>
    </div>
  );
}
