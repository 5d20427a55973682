import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { Loaded, Part } from '../parts.tsx';
import { DeployKeysPart } from './deploy-keys-part.tsx';
import { EMPTY_SECRET, SecretForm } from './secret-form.tsx';
import { SecretRow } from './secret-row.tsx';
import { secretsQuery } from './secrets-api.ts';
import { secretsStrings } from './strings.ts';

/** Named secrets: what there is, and a way in for values. */
export function SecretsSection() {
  const words = useFeatureStrings(secretsStrings);
  const { client } = useVitto();
  const secrets = useQuery(secretsQuery(client));
  const [isAdding, setAdding] = useState(useDraft('secrets.add', EMPTY_SECRET).isChanged);
  const names = secrets.data?.items.map((one) => one.name) ?? [];
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <p className="max-w-prose text-muted">{words.text}</p>
        <p className="max-w-prose text-muted">
          {words.how} <code className="mono text-ink">{'{{secret:NAME}}'}</code>
        </p>
      </div>
      <Part
        title={words.list}
        actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
      >
        {isAdding && <SecretForm known={names} onClose={() => setAdding(false)} />}
        <Loaded query={secrets}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="text-muted">{words.empty}</p>
            ) : (
              <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
                {items.map((one) => (
                  <SecretRow key={one.name} secret={one} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Part>
      <DeployKeysPart />
    </>
  );
}
