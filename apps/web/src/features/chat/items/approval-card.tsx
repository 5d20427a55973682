import { useEffect, useRef, type KeyboardEvent } from 'react';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useKept } from '../../../components/kept-state.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { listArguments } from '../model/describe-tool.ts';
import { revealHidden } from '../model/reveal-hidden.ts';
import type { ApprovalItem } from '../model/view.ts';
import { DegradationHeading, isDegradation, wordsOf } from './degradation-heading.tsx';
import { ArgumentList } from './tool-detail.tsx';
import { useDecision } from './use-decision.ts';

/** Asks for a yes or a no to exactly what is shown. In focus, `a` approves and `r` refuses. */
export function ApprovalCard({ item }: { item: ApprovalItem }) {
  const strings = useStrings();
  const { decide, decision, isSending, error } = useDecision(item);
  const [isRefusing, setRefusing] = useKept('refusing', false);
  const isOpen = decision === null && !item.isClosed;
  const card = useRef<HTMLElement>(null);
  const keepOpen = () => {
    setRefusing(false);
    // What had the focus goes; on the card the keys work on.
    card.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!isOpen || isSending || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.target as HTMLElement).closest('textarea, input') !== null) {
      if (event.key === 'Escape') keepOpen();
      return;
    }
    if (event.key === 'a') decide('approved');
    if (event.key === 'r') setRefusing(true);
    if (event.key === 'a' || event.key === 'r') event.preventDefault();
  };

  return (
    <article
      ref={card}
      tabIndex={0}
      onKeyDown={onKeyDown}
      aria-label={isDegradation(item) ? strings.vm.degrade.title : `${strings.approval.title}: ${item.tool}`}
      aria-keyshortcuts={isOpen ? 'a r' : undefined}
      data-approval={item.approvalId}
      className={`appear grid min-w-0 gap-3 rounded-lg border px-4 py-3 ${isOpen ? 'border-amber-line bg-amber-soft' : 'border-line bg-surface'}`}
    >
      {isDegradation(item) ? (
        <DegradationHeading item={item} isOpen={isOpen} />
      ) : (
        <>
          <Heading item={item} isOpen={isOpen} />
          <Exactly item={item} />
        </>
      )}
      {error !== null && <FailureNote title={error.message} hint={error.hint ?? ''} />}
      {isOpen ? (
        isRefusing ? (
          <RefuseForm
            isSending={isSending}
            onCancel={keepOpen}
            onRefuse={(note) => decide('refused', note)}
          />
        ) : (
          <Choices
            words={wordsOf(item, strings)}
            isSending={isSending}
            onApprove={() => decide('approved')}
            onRefuse={() => setRefusing(true)}
          />
        )
      ) : (
        <Verdict item={item} decision={decision} />
      )}
      {isOpen && (
        <p className="text-xs text-muted">
          {strings.approval.expires('')}
          <Moment at={item.expiresAt} />
          <span className="hidden md:inline"> · {strings.approval.keys}</span>
        </p>
      )}
    </article>
  );
}

function Heading({ item, isOpen }: { item: ApprovalItem; isOpen: boolean }) {
  const strings = useStrings();
  return (
    <div>
      <h2 className={`flex flex-wrap items-center gap-2 font-semibold ${isOpen ? 'text-amber' : ''}`}>
        <Icon name="warning" />
        {strings.approval.title}
        <span
          className={`rounded-full border px-2 py-px text-xs font-medium ${item.risk === 'irreversible' ? 'border-red-line text-red' : 'border-line-strong text-muted'}`}
        >
          {strings.approval.risk[item.risk]}
        </span>
      </h2>
      <p className="mt-1 [overflow-wrap:anywhere]" dir="auto">
        {item.reason.toWellFormed()}
      </p>
    </div>
  );
}

function Exactly({ item }: { item: ApprovalItem }) {
  const strings = useStrings();
  const hasHidden = listArguments(item.arguments).some(({ name, value }) =>
    revealHidden(name + value).some((piece) => piece.kind === 'hidden'),
  );
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs font-medium text-muted">
        {strings.approval.exact}: <span className="mono">{item.tool}</span>
      </p>
      <ArgumentList args={item.arguments} empty={strings.tool.noArguments} />
      {hasHidden && <p className="mt-1 text-xs text-red">{strings.approval.hidden}</p>}
    </div>
  );
}

function Choices(props: {
  words: { approve: string; refuse: string };
  isSending: boolean;
  onApprove: () => void;
  onRefuse: () => void;
}) {
  const strings = useStrings();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button look="primary" disabled={props.isSending} onClick={props.onApprove}>
        {props.isSending ? strings.approval.deciding : props.words.approve}
      </Button>
      <Button disabled={props.isSending} onClick={props.onRefuse}>
        {props.words.refuse}
      </Button>
    </div>
  );
}

function RefuseForm(props: { isSending: boolean; onCancel: () => void; onRefuse: (note: string) => void }) {
  const strings = useStrings();
  const field = useRef<HTMLTextAreaElement>(null);
  const [note, setNote] = useKept('note', '');
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        props.onRefuse(note);
      }}
    >
      <textarea
        ref={field}
        rows={2}
        maxLength={2000}
        dir="auto"
        aria-label={strings.approval.note}
        placeholder={strings.approval.note}
        className="w-full resize-none rounded-md border border-line-strong bg-surface px-3 py-2 placeholder:text-muted"
        value={note}
        onChange={(event) => setNote(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" disabled={props.isSending}>
          {props.isSending ? strings.approval.deciding : strings.approval.refuse}
        </Button>
        <Button look="quiet" disabled={props.isSending} onClick={props.onCancel}>
          {strings.app.cancel}
        </Button>
      </div>
    </form>
  );
}

function Verdict({ item, decision }: { item: ApprovalItem; decision: ApprovalItem['decision'] }) {
  const strings = useStrings();
  if (decision === null) return <p className="text-muted">{item.isClosed && strings.approval.ended}</p>;
  const by = strings.who[decision.by] ?? decision.by;
  return (
    <p role="status" className="font-medium [overflow-wrap:anywhere]">
      {(isDegradation(item) ? strings.vm.degrade : strings.approval).decided[decision.decision](by)}
      {decision.note !== undefined && decision.note !== '' && (
        <span className="font-normal text-muted" dir="auto">
          {' '}
          “{decision.note.toWellFormed()}”
        </span>
      )}
    </p>
  );
}
