import { Switch as Primitive } from 'radix-ui';

interface SwitchProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  isDisabled?: boolean;
  /** The words stand elsewhere: beside what is switched. */
  isLabelHidden?: boolean;
}

/** Something that is on or off at once. */
export function Switch({ label, isOn, onChange, isDisabled = false, isLabelHidden = false }: SwitchProps) {
  return (
    <span className="inline-flex min-h-8 items-center gap-2">
      <Primitive.Root
        checked={isOn}
        onCheckedChange={onChange}
        disabled={isDisabled}
        aria-label={label}
        className="h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken p-0.5 transition-colors disabled:opacity-60 data-[state=checked]:border-accent-fill data-[state=checked]:bg-accent-fill"
      >
        <Primitive.Thumb className="block size-3.5 rounded-full bg-line-strong transition-transform data-[state=checked]:translate-x-4 data-[state=checked]:bg-accent-ink rtl:data-[state=checked]:-translate-x-4" />
      </Primitive.Root>
      {!isLabelHidden && <span aria-hidden="true">{label}</span>}
    </span>
  );
}
