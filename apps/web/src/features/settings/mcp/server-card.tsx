import type { McpServer } from '@vitto/contracts';
import { ApiError } from '../../../api/api-error.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Details } from '../../../components/details.tsx';
import { ExactText } from '../../../components/exact-text.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Moment } from '../../../components/moment.tsx';
import { Switch } from '../../../components/switch.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Card, StateWord } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { KindFields } from './kind-fields.tsx';
import { checkServer, deleteServer } from './mcp-api.ts';
import { OfferReview } from './offer-review.tsx';
import { mcpStrings } from './strings.ts';
import { ToolRow } from './tool-row.tsx';
import { TransportForm } from './transport-form.tsx';
import { useServerCache, useServerChange } from './use-servers.ts';

const TONES = { new: 'ask', ready: 'good', changed: 'ask', failing: 'bad', off: 'quiet' } as const;

/** A server: how it is, what it offers that nobody has approved, and what of it is used. */
export function ServerCard({ server, isOwner }: { server: McpServer; isOwner: boolean }) {
  const words = useFeatureStrings(mcpStrings);
  const common = useFeatureStrings(settingsStrings);
  const { change, error } = useServerChange(server);
  const { lastError } = server;
  // Its own hint is for a task, and sends the person here.
  const hint = lastError?.code === 'mcp.unavailable' ? words.failingHint : lastError?.hint;
  return (
    <Card label={server.name}>
      <div className="flex flex-wrap items-center gap-2">
        <code className="mono font-medium">{server.name}</code>
        <StateWord tone={TONES[server.state]}>{words.states[server.state]}</StateWord>
        <span className="ms-auto">
          <Switch
            label={words.on(server.name)}
            isLabelHidden
            isOn={server.isEnabled}
            onChange={(isEnabled) => change({ isEnabled })}
          />
        </span>
      </div>
      <ExactText text={describeTransport(server)} />
      <Acts server={server} />
      {lastError !== null && (
        <FailureNote
          isHistory
          title={words.failing}
          error={new ApiError(200, lastError.code, lastError.message, hint)}
        />
      )}
      <ActionFailure title={common.notSaved} error={error} />
      {server.offeredTools !== null && <OfferReview key={server.offeredHash} server={server} />}
      {server.approvedTools.length > 0 && (
        <Details summary={words.tools(server.approvedTools.length)}>
          <ul className="grid grid-cols-[minmax(0,1fr)] divide-y divide-line">
            {server.approvedTools.map((tool) => (
              <ToolRow key={tool.name} server={server} tool={tool} onChoose={(next) => change(next)} />
            ))}
          </ul>
        </Details>
      )}
      <Details summary={words.details}>
        <KindFields
          domain={server.domain}
          risk={server.risk}
          onDomain={(domain) => change({ domain })}
          onRisk={(risk) => change({ risk })}
        />
      </Details>
      {(isOwner || server.transport.kind === 'http') && (
        <Details summary={words.connection}>
          <TransportForm server={server} isOwner={isOwner} />
        </Details>
      )}
    </Card>
  );
}

function describeTransport({ transport }: McpServer): string {
  if (transport.kind === 'http') return transport.url;
  return [transport.command, ...transport.args]
    .map((word) => (/[\s"]|^$/.test(word) ? JSON.stringify(word) : word))
    .join(' ');
}

/** Ask it again, or take it away. */
function Acts({ server }: { server: McpServer }) {
  const words = useFeatureStrings(mcpStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const { put, refresh } = useServerCache();
  const check = useAction(async (key) => put(await checkServer(client, server.id, key)));
  const remove = useAction(async () => {
    await deleteServer(client, server.id);
    await refresh();
  });
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          aria-label={check.isBusy ? undefined : words.checkName(server.name)}
          aria-disabled={check.isBusy}
          onClick={() => void check.run()}
        >
          {check.isBusy ? words.checking : words.check}
        </Button>
        <span className="min-w-0 flex-1 text-muted">
          {server.checkedAt === null ? (
            words.neverChecked
          ) : (
            <>
              {words.checked} <Moment at={server.checkedAt} />
            </>
          )}
        </span>
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(server.name)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <ActionFailure title={words.notChecked} error={check.error} />
      <ActionFailure title={words.notDeleted} error={remove.error} />
    </>
  );
}
