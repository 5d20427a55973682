import { useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Card, LastUsed, StateWord } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { tokensStrings } from './strings.ts';
import { deleteToken, tokensQuery, type ApiToken } from './tokens-api.ts';

export function TokenRow({ token }: { token: ApiToken }) {
  const words = useFeatureStrings(tokensStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const remove = useAction(async () => {
    await deleteToken(client, token.id);
    await queries.invalidateQueries({ queryKey: tokensQuery(client).queryKey });
  });
  const name = token.name.toWellFormed();
  return (
    <Card label={name}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium break-words max-sm:basis-full" dir="auto">
          {name}
        </span>
        <span className="flex flex-1 flex-wrap gap-1">
          {token.scopes.map((scope) => (
            <StateWord key={scope} tone="quiet">
              {words.scope[scope].label}
            </StateWord>
          ))}
        </span>
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(name)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <p className="text-muted">
        <LastUsed at={token.lastUsedAt} /> · <Expiry at={token.expiresAt} />
      </p>
      <ActionFailure title={words.notDeleted} error={remove.error} />
    </Card>
  );
}

function Expiry({ at }: { at: string | null }) {
  const words = useFeatureStrings(tokensStrings);
  if (at === null) return words.forever;
  if (Date.parse(at) < Date.now()) return <span className="text-red">{words.expired}</span>;
  return (
    <>
      {words.expires} <Moment at={at} />
    </>
  );
}
