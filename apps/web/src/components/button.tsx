import type { ComponentProps } from 'react';

const LOOKS = {
  primary: 'bg-accent-fill text-accent-ink border-transparent hover:brightness-110',
  plain: 'bg-surface border-line hover:border-line-strong',
  quiet: 'border-transparent text-muted hover:text-ink hover:bg-sunken',
  danger: 'bg-surface border-line text-red hover:border-red-line',
} as const;

type ButtonProps = ComponentProps<'button'> & { look?: keyof typeof LOOKS };

export function Button({ look = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={`inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium transition-colors disabled:opacity-60 disabled:hover:brightness-100 ${LOOKS[look]} ${className}`}
      {...rest}
    />
  );
}
