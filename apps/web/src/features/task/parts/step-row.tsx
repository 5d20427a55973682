import { memo } from 'react';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../../i18n/strings-context.tsx';
import { formatCost, formatDuration, formatMoment } from '../../chat/model/format.ts';
import { describeStep, type StepLine } from '../model/describe-step.ts';
import type { Step } from '../model/step.ts';
import { taskStrings } from '../strings.ts';
import { StepDetail } from './step-detail.tsx';

/** Height of a closed row, in pixels. */
export const ROW_PX = 38;

const TONES: Record<StepLine['tone'], string> = {
  quiet: 'text-muted',
  live: 'text-accent',
  amber: 'text-amber',
  red: 'text-red',
  green: 'text-green',
};

interface StepRowProps {
  step: Step;
  taskId: string;
  isOpen: boolean;
  onToggle: (key: string) => void;
}

/** A step in one line, which opens to everything there is of it. */
export const StepRow = memo(function StepRow({ step, taskId, isOpen, onToggle }: StepRowProps) {
  const words = { task: useFeatureStrings(taskStrings), shared: useStrings() };
  const language = useLanguage();
  const line = describeStep(step, words);
  return (
    <div className="border-b border-line">
      <button
        type="button"
        data-row={step.key}
        aria-expanded={isOpen}
        onClick={() => onToggle(step.key)}
        style={{ minHeight: ROW_PX - 1 }}
        className="group flex w-full min-w-0 items-center gap-2.5 rounded-md px-2 py-1 text-start hover:bg-sunken"
      >
        <time
          dateTime={step.startedAt}
          title={formatMoment(step.startedAt, language)}
          className="tabular w-16 shrink-0 text-xs text-muted max-sm:hidden"
        >
          {formatSecond(step.startedAt, language)}
        </time>
        <Icon name={line.icon} className={TONES[line.tone]} />
        <span className="max-w-[45%] truncate font-medium" dir="auto">
          {line.title}
        </span>
        <span className={`min-w-0 flex-1 truncate text-muted ${line.isCode ? 'mono' : ''}`} dir="auto">
          {line.object}
        </span>
        <span className={`max-w-[35%] truncate ${TONES[line.tone]}`}>{line.state}</span>
        {step.turn !== undefined && step.turn.usage !== null && (
          <span className="tabular hidden w-16 shrink-0 text-end text-muted lg:inline">
            {formatCost(step.turn.costUsd, '–', language)}
          </span>
        )}
        <span className="tabular w-16 shrink-0 text-end text-muted max-sm:w-auto">
          <Took step={step} />
        </span>
        <Icon
          name="chevron"
          className={`size-3.5 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`}
        />
      </button>
      {isOpen && (
        <div className="ps-4 pe-2 sm:ps-[6.5rem]">
          <StepDetail step={step} taskId={taskId} />
        </div>
      )}
    </div>
  );
});

function Took({ step }: { step: Step }) {
  if (step.endedAt === null) return <Elapsed since={step.startedAt} />;
  const ms = Date.parse(step.endedAt) - Date.parse(step.startedAt);
  return ms > 0 ? formatDuration(ms) : null;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format costs more than using it a thousand times. */
function formatSecond(at: string, language: string): string {
  const known = formats.get(language);
  const format = known ?? new Intl.DateTimeFormat(language, { timeStyle: 'medium', hour12: false });
  if (known === undefined) formats.set(language, format);
  return format.format(new Date(at));
}
