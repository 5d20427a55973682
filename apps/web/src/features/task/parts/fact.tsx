import type { ReactNode } from 'react';

/** A fact by its name, in a list of them. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="tabular min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
