import { taskStepPage, type Task } from '@vitto/contracts';
import { useState } from 'react';
import { toApiError, type ApiError } from '../../../api/api-error.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { writeBugReport } from '../model/bug-report.ts';
import { taskStrings } from '../strings.ts';

export type ReportState =
  | { kind: 'idle' | 'working' | 'copied' }
  | { kind: 'by-hand'; text: string }
  | { kind: 'failed'; error: ApiError };

/** Gathers a report of the task and puts it on the clipboard. */
export function useReport(task: Task) {
  const { api, client } = useVitto();
  const [state, setState] = useState<ReportState>({ kind: 'idle' });
  const gather = async (): Promise<string> => {
    const path = `/tasks/${encodeURIComponent(task.id)}/steps?order=desc&limit=200`;
    const [page, system] = await Promise.all([
      client.send({ path, schema: taskStepPage }),
      api.readSystem().catch(() => null),
    ]);
    const at = new Date().toISOString();
    return writeBugReport({ task, events: page.items.reverse(), system, browser: navigator.userAgent, at });
  };
  const copy = async () => {
    setState({ kind: 'working' });
    try {
      const text = await gather();
      const isCopied = await putOnClipboard(text);
      setState(isCopied ? { kind: 'copied' } : { kind: 'by-hand', text });
    } catch (error) {
      setState({ kind: 'failed', error: toApiError(error) });
    }
  };
  return { state, copy: () => void copy(), close: () => setState({ kind: 'idle' }) };
}

/** False where there is no clipboard (plain HTTP from elsewhere) or it is refused. */
async function putOnClipboard(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

export function ReportButton({ state, onCopy }: { state: ReportState; onCopy: () => void }) {
  const { report } = useFeatureStrings(taskStrings);
  const isWorking = state.kind === 'working';
  return (
    <Button aria-label={report.button} title={report.button} disabled={isWorking} onClick={onCopy}>
      <Icon name={state.kind === 'copied' ? 'check' : 'clip'} />
      <span className="max-lg:hidden">{isWorking ? report.working : report.button}</span>
    </Button>
  );
}

/** What came of it, in the page. */
export function ReportOutcome({ state, onClose }: { state: ReportState; onClose: () => void }) {
  const { report } = useFeatureStrings(taskStrings);
  const shared = useStrings();
  if (state.kind === 'failed') return <FailureNote title={report.failed} error={state.error} />;
  return (
    <div role="status" className="not-empty:mb-4">
      {state.kind === 'copied' && <p className="text-green">{report.copied}</p>}
      {state.kind === 'by-hand' && (
        <div className="grid gap-2">
          <p>{report.byHand}</p>
          <textarea
            readOnly
            rows={8}
            aria-label={report.label}
            className="mono w-full rounded-md border border-line bg-sunken p-2"
            value={state.text}
            onFocus={(event) => event.target.select()}
          />
          <Button className="w-fit" onClick={onClose}>
            {shared.app.close}
          </Button>
        </div>
      )}
    </div>
  );
}
