import type { ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Strings } from '../i18n/strings.en.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { CodeWords } from './code-words.tsx';
import { Icon } from './icon.tsx';

/** What, why, and what to do: a failure in the page. */
export function FailureNote(props: {
  title: string;
  error?: ApiError | null;
  hint?: string;
  /** It is part of the history, not news: it is not called out. */
  isHistory?: boolean;
  children?: ReactNode;
}) {
  const strings = useStrings();
  const said = props.error ? explainError(props.error, strings) : null;
  const hint = props.hint ?? said?.hint;
  return (
    <div
      role={props.isHistory === true ? undefined : 'alert'}
      className="appear flex gap-2.5 rounded-lg border border-red-line bg-red-soft px-3 py-2.5"
    >
      <Icon name="warning" className="mt-0.5 text-red" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>
          <strong className="font-semibold text-red">{props.title}</strong> {said?.message}
        </p>
        {hint !== undefined && hint !== '' && (
          <p className="text-muted">
            <CodeWords text={hint} />
          </p>
        )}
        {props.error && props.error.status > 0 && <p className="mono text-muted">{props.error.code}</p>}
        {props.children !== undefined && <div className="mt-2 flex flex-wrap gap-2">{props.children}</div>}
      </div>
    </div>
  );
}

/** A request's failure in the person's words where it is the page's own, else in the server's. */
export function explainError(
  error: ApiError,
  strings: Strings,
): { message: string; hint: string | undefined } {
  if (error.code === 'network') return { message: strings.error.network, hint: strings.error.networkHint };
  if (error.code === 'shape') return { message: strings.error.shape, hint: strings.error.shapeHint };
  if (error.status === 401) return { message: strings.session.ended, hint: undefined };
  return { message: error.message === '' ? strings.error.unknown : error.message, hint: error.hint };
}
