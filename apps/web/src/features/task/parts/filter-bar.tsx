import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { fitsStepFilter, STEP_FILTERS, type Step, type StepFilter } from '../model/step.ts';
import { taskStrings } from '../strings.ts';

interface FilterBarProps {
  filter: StepFilter;
  steps: readonly Step[];
  onFilter: (filter: StepFilter) => void;
  onJump: (end: 'first' | 'last') => void;
  /** All of the journal is here: there is nowhere else to go. */
  isWhole: boolean;
}

/** Which steps are shown, and the way to either end of a long journal. It stays in sight. */
export function FilterBar({ filter, steps, onFilter, onJump, isWhole }: FilterBarProps) {
  const strings = useFeatureStrings(taskStrings);
  return (
    <div className="sticky top-0 z-10 -mx-1 flex flex-wrap items-center gap-1 border-b border-line bg-bg px-1 py-1">
      <div role="group" aria-label={strings.filter} className="flex flex-wrap gap-1">
        {STEP_FILTERS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={filter === name}
            onClick={() => onFilter(name)}
            className="flex min-h-8 items-center gap-1.5 rounded-full border border-transparent px-3 text-muted hover:text-ink aria-pressed:border-line aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink"
          >
            {strings.filters[name]}
            <span className="tabular text-xs">
              {steps.filter((step) => fitsStepFilter(name, step)).length}
            </span>
          </button>
        ))}
      </div>
      {!isWhole && (
        <span className="ms-auto flex gap-1">
          <Button
            look="quiet"
            aria-label={strings.toStart}
            title={strings.toStart}
            onClick={() => onJump('first')}
          >
            <Icon name="up" />
          </Button>
          <Button
            look="quiet"
            aria-label={strings.toEnd}
            title={strings.toEnd}
            onClick={() => onJump('last')}
          >
            <Icon name="down" />
          </Button>
        </span>
      )}
    </div>
  );
}
