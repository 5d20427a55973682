import { lazy, Suspense, useSyncExternalStore, type ReactNode } from 'react';

/** Loaded when the first file is opened. */
const ArtifactPanel = lazy(async () => ({
  default: (await import('../../components/artifact-panel.tsx')).ArtifactPanel,
}));

/** Beside from here on; over everything below. */
const WIDE = window.matchMedia('(min-width: 64rem)');

/** The conversation with a file beside it, or under it where there is no room for both. */
export function SideFile(props: { id: string | null; onClose: () => void; children: ReactNode }) {
  const { id, onClose, children } = props;
  const isWide = useSyncExternalStore(followWidth, () => WIDE.matches);
  return (
    <div className="flex min-h-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col" inert={id !== null && !isWide}>
        {children}
      </div>
      {id !== null && (
        <Suspense>
          <ArtifactPanel key={id} id={id} onClose={onClose} />
        </Suspense>
      )}
    </div>
  );
}

function followWidth(listener: () => void): () => void {
  WIDE.addEventListener('change', listener);
  return () => WIDE.removeEventListener('change', listener);
}
