import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { useStrings } from '../../../i18n/strings-context.tsx';

/** Takes files that are dropped anywhere on the page; says so while they hover over it. */
export function DropArea({ onFiles, children }: { onFiles: (files: File[]) => void; children: ReactNode }) {
  const strings = useStrings();
  const [isOver, setOver] = useState(false);
  // Entering a child comes before leaving its parent.
  const depth = useRef(0);
  const enter = (event: DragEvent, by: 1 | -1) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current += by;
    setOver(depth.current > 0);
  };
  return (
    <main
      id="content"
      className="relative flex min-h-0 min-w-0 flex-1 flex-col"
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-10 grid place-content-center rounded-xl border-2 border-dashed border-accent bg-bg/90 text-base font-medium text-accent">
          {strings.attachments.drop}
        </div>
      )}
    </main>
  );
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer.types.includes('Files');
}
