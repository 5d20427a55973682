import { useId, type ReactNode } from 'react';

/** What a control takes from its field: its name, and what is said of it. */
export interface FieldControl {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

interface FieldProps {
  label: string;
  description?: ReactNode;
  /** Why the value was not taken, in words. */
  error?: ReactNode;
  className?: string;
  children: (control: FieldControl) => ReactNode;
}

/** A control with its label, what it is for, and what is wrong with it. */
export function Field({ label, description, error = null, className = '', children }: FieldProps) {
  const id = useId();
  const isSaid = description !== undefined || error !== null;
  return (
    <div className={`grid grid-cols-[minmax(0,1fr)] content-start gap-1 ${className}`}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': isSaid ? `${id}-says` : undefined,
        'aria-invalid': error !== null,
      })}
      <div id={`${id}-says`} className="grid gap-0.5 text-muted empty:hidden">
        {error !== null && (
          <p role="alert" className="text-red">
            {error}
          </p>
        )}
        {description !== undefined && <p>{description}</p>}
      </div>
    </div>
  );
}
