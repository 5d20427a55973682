import { useId } from 'react';
import { Checkbox } from './inputs.tsx';

interface CheckboxGroupProps<T extends string> {
  legend: string;
  /** In the order in which they are shown, and given back. */
  options: readonly T[];
  labels: Readonly<Record<T, { label: string; text: string }>>;
  chosen: readonly T[];
  /** What is wrong with the choice, in words. */
  error: string | null;
  onChange: (next: T[]) => void;
}

/** Some of several, each with what it means. */
export function CheckboxGroup<T extends string>(props: CheckboxGroupProps<T>) {
  const { legend, options, labels, chosen, error, onChange } = props;
  const errorId = useId();
  return (
    <fieldset aria-describedby={error === null ? undefined : errorId}>
      <legend className="font-medium">{legend}</legend>
      <div className="grid grid-cols-[minmax(0,1fr)] sm:grid-cols-2 sm:gap-x-4">
        {options.map((option) => (
          <Checkbox
            key={option}
            label={labels[option].label}
            description={labels[option].text}
            checked={chosen.includes(option)}
            onChange={({ target }) =>
              onChange(options.filter((one) => (one === option ? target.checked : chosen.includes(one))))
            }
          />
        ))}
      </div>
      {error !== null && (
        <p id={errorId} role="alert" className="text-red">
          {error}
        </p>
      )}
    </fieldset>
  );
}
