import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Part } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { tokensStrings } from './strings.ts';
import { createSignInCode } from './tokens-api.ts';

/** A one-time link that signs this person in elsewhere. */
export function DeviceLink() {
  const words = useFeatureStrings(tokensStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const [link, setLink] = useState<{ address: string; expiresAt: string } | null>(null);
  const make = useAction(async (key) => {
    const { code, expiresAt } = await createSignInCode(client, key);
    setLink({ address: `${window.location.origin}/sign-in#code=${encodeURIComponent(code)}`, expiresAt });
  });
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(window.location.hostname);
  return (
    <Part title={words.device} text={words.deviceText}>
      {isLocal && <p className="max-w-prose text-muted">{words.deviceLocal}</p>}
      <Button className="justify-self-start" aria-disabled={make.isBusy} onClick={() => void make.run()}>
        {words.deviceMake}
      </Button>
      <div role="status" className="grid grid-cols-[minmax(0,1fr)] gap-2 empty:hidden">
        {link !== null && (
          <>
            <code
              aria-label={words.deviceLink}
              className="mono rounded-md border border-line bg-surface px-2.5 py-2 break-all select-all"
            >
              {link.address}
            </code>
            <div className="flex flex-wrap items-center gap-2 text-muted">
              <CopyButton text={link.address} label={common.copy} done={common.copied} />
              <span>
                {words.deviceUntil} <Moment at={link.expiresAt} />
              </span>
            </div>
          </>
        )}
      </div>
      <ActionFailure title={words.deviceFailed} error={make.error} />
    </Part>
  );
}
