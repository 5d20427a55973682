import type { ReactNode } from 'react';

/** A part of a page under its own heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] content-start gap-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="flex-1 font-semibold">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Facts in pairs, the numbers under each other. */
export function Facts({ facts }: { facts: readonly { label: string; value: ReactNode }[] }) {
  return (
    <dl className="tabular grid rounded-lg border border-line bg-surface px-3">
      {facts.map(({ label, value }) => (
        <div key={label} className="flex justify-between gap-4 border-b border-line py-2 last:border-b-0">
          <dt className="text-muted">{label}</dt>
          <dd className="text-end [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
