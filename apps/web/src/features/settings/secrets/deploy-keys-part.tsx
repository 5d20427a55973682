import type { DeployKey } from '@vitto/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Card, LastUsed, Loaded, Part } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { DeployKeyForm } from './deploy-key-form.tsx';
import { deleteDeployKey, deployKeysQuery } from './deploy-keys-api.ts';
import { deployKeyStrings } from './deploy-keys-strings.ts';

/** Keys with which git reaches repositories from the user's machines. */
export function DeployKeysPart() {
  const words = useFeatureStrings(deployKeyStrings);
  const { client } = useVitto();
  const keys = useQuery(deployKeysQuery(client));
  const [isAdding, setAdding] = useState(false);
  return (
    <Part
      title={words.title}
      text={words.text}
      actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
    >
      {isAdding && <DeployKeyForm onClose={() => setAdding(false)} />}
      <Loaded query={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-muted">{words.empty}</p>
          ) : (
            <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
              {items.map((one) => (
                <DeployKeyRow key={one.id} deployKey={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}

function DeployKeyRow({ deployKey }: { deployKey: DeployKey }) {
  const words = useFeatureStrings(deployKeyStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const { repository, publicKey, lastUsedAt } = deployKey;
  const remove = useAction(async () => {
    await deleteDeployKey(client, deployKey.id);
    await queries.invalidateQueries({ queryKey: deployKeysQuery(client).queryKey });
  });
  return (
    <Card label={repository}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <code className="mono min-w-0 flex-1 basis-48 font-medium break-all">{repository}</code>
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(repository)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <p className="text-muted">{words.addIt}</p>
      <code className="mono rounded-md border border-line bg-bg px-2.5 py-2 break-all select-all">
        {publicKey}
      </code>
      <CopyButton text={publicKey} label={common.copy} done={common.copied} />
      <p className="text-muted">
        <LastUsed at={lastUsedAt} />
      </p>
      <ActionFailure title={words.notDeleted} error={remove.error} />
    </Card>
  );
}
