import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { SESSION_KEY, tellOtherTabs } from '../../api/session.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import type { VittoApi } from '../../api/vitto-api.ts';
import { Button } from '../../components/button.tsx';
import { explainError } from '../../components/failure-note.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import type { Strings } from '../../i18n/strings.en.ts';

type Outcome = { kind: 'working' } | { kind: 'no-code' } | { kind: 'failed'; error: ApiError };

/** Takes the code out of the address, signs in with it, and goes to the page that the link names. The code never stays in the history. */
export function SignInPage() {
  const { api } = useVitto();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'working' });
  const [round, setRound] = useState(0);

  useEffect(() => {
    let isCurrent = true;
    void enter(api).then(async (next) => {
      if (next !== null) return isCurrent ? setOutcome(next) : undefined;
      tellOtherTabs();
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      if (isCurrent) await navigate({ href: landing, replace: true });
    });
    const again = () => setRound((count) => count + 1);
    window.addEventListener('hashchange', again);
    return () => {
      isCurrent = false;
      window.removeEventListener('hashchange', again);
    };
  }, [api, queries, navigate, round]);

  return (
    <SignInCard
      outcome={outcome}
      onRetry={() => {
        setOutcome({ kind: 'working' });
        setRound((count) => count + 1);
      }}
    />
  );
}

/** A code that has not been tried, or that may be tried again since the server was not reached. */
let pendingCode: string | null = null;
let running: Promise<Outcome | null> | null = null;

const HOME = '/vitto';
/** Where to go then: a page of the app, and nowhere else. */
const PAGE = /^\/vitto(\/[\w-]+)*$/;
let landing = HOME;

/** `null`: signed in. The same code is never sent twice at once. */
function enter(api: VittoApi): Promise<Outcome | null> {
  const link = new URLSearchParams(window.location.hash.slice(1));
  const code = link.get('code');
  if (code !== null && code !== '') {
    pendingCode = code;
    const page = link.get('to') ?? HOME;
    landing = PAGE.test(page) ? page : HOME;
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }
  running ??= exchange(api).finally(() => {
    running = null;
  });
  return running;
}

async function exchange(api: VittoApi): Promise<Outcome | null> {
  try {
    if (pendingCode === null) return (await api.readSession()) === null ? { kind: 'no-code' } : null;
    await api.signIn(pendingCode);
    pendingCode = null;
    return null;
  } catch (error) {
    const failure = error instanceof ApiError ? error : new ApiError(0, 'unknown', String(error));
    const isFinal = failure.status >= 400 && failure.status < 500 && failure.status !== 429;
    if (isFinal) pendingCode = null;
    return { kind: 'failed', error: failure };
  }
}

function SignInCard({ outcome, onRetry }: { outcome: Outcome; onRetry: () => void }) {
  const strings = useStrings();
  return (
    <main className="grid min-h-dvh place-content-center p-6">
      <div className="grid w-full max-w-md gap-4">
        <h1 className="flex items-center gap-3 text-xl font-semibold">
          <img src="/favicon.svg" alt="" className="size-8" />
          {strings.signIn.title}
        </h1>
        {outcome.kind === 'working' ? (
          <p className="text-base text-muted" role="status">
            {strings.signIn.working}
          </p>
        ) : (
          <Trouble {...describe(outcome, strings)} onRetry={onRetry} />
        )}
      </div>
    </main>
  );
}

interface Description {
  title: string;
  hint: string | undefined;
  isRetryable: boolean;
}

function describe(outcome: Exclude<Outcome, { kind: 'working' }>, strings: Strings): Description {
  const words = strings.signIn;
  if (outcome.kind === 'no-code') return { title: words.noCode, hint: words.noCodeHint, isRetryable: false };
  const { error } = outcome;
  if (error.status === 429) return { title: words.tooMany, hint: words.tooManyHint, isRetryable: true };
  if (error.status >= 400 && error.status < 500)
    return { title: words.used, hint: words.usedHint, isRetryable: false };
  const said = explainError(error, strings);
  return { title: `${words.failed} ${said.message}`, hint: said.hint, isRetryable: true };
}

function Trouble({ title, hint, isRetryable, onRetry }: Description & { onRetry: () => void }) {
  const strings = useStrings();
  return (
    <div role="alert" className="grid justify-items-start gap-4">
      <div>
        <p className="text-base font-medium">{title}</p>
        <p className="text-muted">{hint}</p>
      </div>
      <dl className="grid w-full gap-px overflow-hidden rounded-lg border border-line bg-line">
        {[
          ['npm run vitto -- sign-in', strings.signIn.newLink],
          ['npm run vitto -- doctor', strings.signIn.doctor],
        ].map(([command, what]) => (
          <div key={command} className="flex flex-wrap items-baseline gap-x-3 bg-surface px-3 py-2">
            <dt>
              <code className="mono font-medium">{command}</code>
            </dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
      {isRetryable && (
        <Button look="primary" onClick={onRetry}>
          {strings.app.retry}
        </Button>
      )}
    </div>
  );
}
