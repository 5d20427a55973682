import type { ScannedHostKeys } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Select, TextArea, TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, SaveLine, StateWord } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { deployKeysQuery, postDeployKey, scanHostKeys } from './deploy-keys-api.ts';
import { deployKeyStrings } from './deploy-keys-strings.ts';

/** A new deploy key, in two steps: the repository and its key, then how its server is recognised. */
export function DeployKeyForm({ onClose }: { onClose: () => void }) {
  const words = useFeatureStrings(deployKeyStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const [repository, setRepository] = useState('');
  const [isOwn, setOwn] = useState(false);
  const [privateKey, setPrivateKey] = useState('');
  const [shown, setShown] = useState<ScannedHostKeys | null>(null);
  const [hasTried, setTried] = useState(false);
  const scan = useAction((_key) => scanHostKeys(client, repository));
  const save = useAction((_key, hostKeys: string[]) =>
    postDeployKey(client, { repository, hostKeys, ...(isOwn ? { privateKey } : {}) }),
  );
  const isComplete = repository.trim() !== '' && (!isOwn || privateKey.trim() !== '');

  const submit = async () => {
    setTried(true);
    if (!isComplete) return;
    if (shown === null) return setShown(await scan.run());
    if ((await save.run(shown.hostKeys.map(({ line }) => line))) === null) return;
    onClose();
    await queries.invalidateQueries({ queryKey: deployKeysQuery(client).queryKey });
  };
  return (
    <form
      noValidate
      autoComplete="off"
      className="appear grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line-strong p-3"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.repository}
        description={words.repositoryHelp}
        error={hasTried && repository.trim() === '' ? words.noRepository : null}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            autoFocus
            value={repository}
            placeholder="git@github.com:org/name.git"
            onChange={(event) => {
              setRepository(event.target.value);
              setShown(null);
              scan.forget();
            }}
          />
        )}
      </Field>
      <Field label={words.which} description={isOwn ? words.ownHelp : words.makeHelp}>
        {(control) => (
          <Select
            {...control}
            value={isOwn ? 'own' : 'make'}
            onChange={(event) => setOwn(event.target.value === 'own')}
          >
            <option value="make">{words.make}</option>
            <option value="own">{words.own}</option>
          </Select>
        )}
      </Field>
      {isOwn && (
        <Field label={words.privateKey} error={hasTried && privateKey.trim() === '' ? words.noKey : null}>
          {(control) => (
            <TextArea
              {...control}
              rows={5}
              className="mono"
              spellCheck={false}
              autoCapitalize="off"
              autoComplete="off"
              value={privateKey}
              placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
              onChange={(event) => setPrivateKey(event.target.value)}
            />
          )}
        </Field>
      )}
      {shown !== null && <HostKeys shown={shown} />}
      <ActionFailure title={words.notScanned} error={scan.error} />
      <ActionFailure title={common.notSaved} error={save.error} />
      <SaveLine
        label={shown === null ? words.next : words.confirm}
        isBusy={scan.isBusy || save.isBusy}
        onCancel={onClose}
      />
    </form>
  );
}

function HostKeys({ shown: { host, hostKeys } }: { shown: ScannedHostKeys }) {
  const words = useFeatureStrings(deployKeyStrings);
  const isPublished = hostKeys.every((key) => key.isPublished === true);
  return (
    <div role="status" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <p>{isPublished ? words.published(host) : words.compare(host)}</p>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
        {hostKeys.map((key) => (
          <li key={key.fingerprint} className="flex flex-wrap items-center gap-x-2">
            <code className="mono min-w-0 break-all select-all">
              {key.type} {key.fingerprint}
            </code>
            <StateWord tone={key.isPublished === true ? 'good' : 'ask'}>
              {key.isPublished === true ? words.isPublished : words.toCompare}
            </StateWord>
          </li>
        ))}
      </ul>
    </div>
  );
}
