import type { ComponentProps } from 'react';

// 16 px on a phone: smaller text makes its browser zoom in.
const FRAME =
  'w-full min-w-0 rounded-md border border-line-strong bg-bg px-2.5 placeholder:text-muted max-md:text-base aria-[invalid=true]:border-red';

type TextInputProps = ComponentProps<'input'> & { isExact?: boolean };

/** One line of text. `isExact` for names and addresses: no help from the keyboard, in the order of the letters. */
export function TextInput({ isExact = false, className = '', ...rest }: TextInputProps) {
  const exact = isExact
    ? ({ autoComplete: 'off', autoCapitalize: 'none', spellCheck: false, dir: 'ltr' } as const)
    : {};
  return (
    <input
      type="text"
      className={`min-h-9 ${FRAME} ${isExact ? 'mono' : ''} ${className}`}
      {...exact}
      {...rest}
    />
  );
}

/** A value that goes in and is never shown again. */
export function SecretInput(props: ComponentProps<'input'>) {
  return (
    <TextInput
      isExact
      {...props}
      type="password"
      // Password managers would keep it, and offer it to other fields.
      autoComplete="off"
      data-1p-ignore=""
      data-lpignore="true"
    />
  );
}

export function TextArea({ className = '', ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      className={`mono ${FRAME} py-2 ${className}`}
      spellCheck={false}
      autoCapitalize="none"
      dir="auto"
      {...rest}
    />
  );
}

/** The browser's own list: on a phone it is the best there is, and it needs no styles that the page's policy forbids. */
export function Select({ className = '', ...rest }: ComponentProps<'select'>) {
  return <select className={`min-h-9 ${FRAME} ${className}`} {...rest} />;
}

/** A box to tick, with its words beside it. */
export function Checkbox({
  label,
  description,
  ...rest
}: ComponentProps<'input'> & { label: string; description?: string }) {
  return (
    <label className="flex items-start gap-2.5 py-1">
      <input type="checkbox" className="mt-1 size-4 shrink-0 accent-accent-fill" {...rest} />
      <span className="min-w-0">
        <span className="font-medium">{label}</span>
        {description !== undefined && <span className="block text-muted">{description}</span>}
      </span>
    </label>
  );
}
