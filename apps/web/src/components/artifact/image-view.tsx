import type { ArtifactRef } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readArtifactBytes } from '../../api/read-artifact.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { Button } from '../button.tsx';
import { FailureNote } from '../failure-note.tsx';
import { ViewSkeleton } from './view-skeleton.tsx';

/** A picture from its bytes: in an `img` nothing in it can run or load. */
export function ImageView({ artifact }: { artifact: ArtifactRef }) {
  const strings = useStrings();
  const { client } = useVitto();
  const [isBroken, setBroken] = useState(false);
  const bytes = useQuery({
    queryKey: ['artifact-image', artifact.id],
    queryFn: ({ signal }) =>
      readArtifactBytes(client, artifact.id, { start: 0, end: artifact.bytes }, signal),
    staleTime: Infinity,
    gcTime: 0,
  });
  const address = useObjectAddress(bytes.data, artifact.mediaType);
  if (bytes.isError || isBroken) {
    return (
      <div className="p-3">
        <FailureNote title={strings.artifact.failed} error={bytes.error as never}>
          {bytes.isError && <Button onClick={() => void bytes.refetch()}>{strings.app.retry}</Button>}
        </FailureNote>
      </div>
    );
  }
  if (address === null) return <ViewSkeleton />;
  return (
    <div
      className="grid min-h-0 flex-1 place-items-center overflow-auto bg-sunken p-3"
      tabIndex={0}
      role="group"
      aria-label={artifact.name}
    >
      <img
        src={address}
        alt={artifact.name.toWellFormed()}
        className="max-w-full"
        onError={() => setBroken(true)}
      />
    </div>
  );
}

function useObjectAddress(bytes: Uint8Array<ArrayBuffer> | undefined, type: string): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (bytes === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return address;
}
