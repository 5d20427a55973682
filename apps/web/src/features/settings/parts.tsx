import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { Moment } from '../../components/moment.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { settingsStrings } from './strings.ts';

/** A part of a section: its heading, what it is for, and its controls. */
export function Part(props: { title: string; text?: ReactNode; actions?: ReactNode; children?: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-64">
          <h3 className="text-base font-semibold">{props.title}</h3>
          {props.text !== undefined && <p className="max-w-prose text-muted">{props.text}</p>}
        </div>
        {props.actions}
      </div>
      {props.children}
    </section>
  );
}

/** What the server has, once it is there; before that a sign of life, or why it is not there. */
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  const strings = useStrings();
  const words = useFeatureStrings(settingsStrings);
  if (query.data !== undefined) return children(query.data);
  if (query.isError) {
    return (
      <FailureNote title={words.notLoaded} error={toApiError(query.error)}>
        <Button onClick={() => void query.refetch()}>{strings.app.retry}</Button>
      </FailureNote>
    );
  }
  return (
    <div className="appear-late grid grid-cols-[minmax(0,1fr)] gap-2" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="h-4 w-2/3 rounded-sm bg-sunken" />
      <span className="h-12 w-full rounded-lg bg-sunken" />
      <span className="h-12 w-full rounded-lg bg-sunken" />
    </div>
  );
}

/**
 * At the end of a form: its button, and how the last press went, until something is changed. `isChanged` is left out
 * where a form makes something new: it has nothing saved to be compared with.
 */
export function SaveLine(props: {
  label: string;
  isBusy: boolean;
  isDone?: boolean;
  isChanged?: boolean;
  onCancel?: (() => void) | undefined;
}) {
  const strings = useStrings();
  const words = useFeatureStrings(settingsStrings);
  const isSaved = props.isDone === true && props.isChanged !== true && !props.isBusy;
  const says = props.isBusy ? words.saving : isSaved ? words.saved : '';
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        type="submit"
        look={props.isChanged === false ? 'plain' : 'primary'}
        className="min-h-9"
        aria-disabled={props.isBusy}
      >
        {props.label}
      </Button>
      {props.onCancel !== undefined && (
        <Button className="min-h-9" onClick={props.onCancel}>
          {strings.app.cancel}
        </Button>
      )}
      <span role="status" className="inline-flex items-center gap-1 text-muted">
        {isSaved && <Icon name="check" className="text-green" />}
        {says}
      </span>
      {props.isChanged === true && !props.isBusy && <span className="text-amber">{words.unsaved}</span>}
    </div>
  );
}

export function ActionFailure({ title, error }: { title: string; error: ApiError | null }) {
  return error === null ? null : <FailureNote title={title} error={error} />;
}

/** The words for one field of a refusal; the rest of it is shown as a whole. */
export function fieldError(error: ApiError | null, path: string): string | null {
  return error?.fields.find((field) => field.path === path)?.message ?? null;
}

const TONES = {
  quiet: 'border-line bg-sunken text-muted',
  good: 'border-line bg-surface text-green',
  ask: 'border-amber-line bg-amber-soft text-amber',
  bad: 'border-red-line bg-red-soft text-red',
} as const;

/** A state in a word. */
export function StateWord({ tone, children }: { tone: keyof typeof TONES; children: ReactNode }) {
  return (
    <span className={`shrink-0 rounded-full border px-2 py-px text-xs font-medium ${TONES[tone]}`}>
      {children}
    </span>
  );
}

/** A thing with what can be done with it. */
export function Card({ children, label }: { children: ReactNode; label?: string }) {
  return (
    <li
      aria-label={label}
      className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3"
    >
      {children}
    </li>
  );
}

/** When a key was used last, if it ever was. */
export function LastUsed({ at }: { at: string | null }) {
  const strings = useFeatureStrings(settingsStrings);
  if (at === null) return strings.unused;
  return (
    <>
      {strings.lastUsed} <Moment at={at} />
    </>
  );
}

/** Something to be careful about, always there. */
export function Caution({ children }: { children: ReactNode }) {
  return (
    <p className="flex gap-2 rounded-lg border border-amber-line bg-amber-soft px-3 py-2">
      <Icon name="warning" className="mt-0.5 text-amber" />
      <span className="min-w-0">{children}</span>
    </p>
  );
}
