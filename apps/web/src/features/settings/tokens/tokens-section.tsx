import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { Loaded, Part } from '../parts.tsx';
import { ShownOnce } from '../shown-once.tsx';
import { DeviceLink } from './device-link.tsx';
import { tokensStrings } from './strings.ts';
import { EMPTY_TOKEN, TokenForm } from './token-form.tsx';
import { TokenRow } from './token-row.tsx';
import { tokensQuery, type CreatedToken } from './tokens-api.ts';

/** Personal tokens for programs, and signing in elsewhere. */
export function TokensSection() {
  const words = useFeatureStrings(tokensStrings);
  const { client } = useVitto();
  const tokens = useQuery(tokensQuery(client));
  const [isAdding, setAdding] = useState(useDraft('tokens.add', EMPTY_TOKEN).isChanged);
  const [made, setMade] = useState<CreatedToken | null>(null);
  return (
    <>
      <Part
        title={words.title}
        text={words.text}
        actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
      >
        {isAdding && <TokenForm onMade={setMade} onClose={() => setAdding(false)} />}
        {made !== null && (
          <ShownOnce
            title={words.made(made.name.toWellFormed())}
            secret={made.token}
            onClose={() => setMade(null)}
          />
        )}
        <Loaded query={tokens}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="text-muted">{words.empty}</p>
            ) : (
              <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
                {items.map((one) => (
                  <TokenRow key={one.id} token={one} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Part>
      <DeviceLink />
    </>
  );
}
