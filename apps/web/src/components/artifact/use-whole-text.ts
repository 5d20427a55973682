import type { ArtifactRef } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { readArtifactBytes } from '../../api/read-artifact.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { WHOLE_MAX_BYTES } from './choose-kind.ts';

/** The text of an artifact at once, up to the most that can be made something of. */
export function useWholeText(artifact: ArtifactRef) {
  const { client } = useVitto();
  return useQuery({
    queryKey: ['artifact-text', artifact.id],
    queryFn: async ({ signal }) => {
      const end = Math.min(artifact.bytes, WHOLE_MAX_BYTES);
      return new TextDecoder().decode(
        await readArtifactBytes(client, artifact.id, { start: 0, end }, signal),
      );
    },
    // What an artifact holds never changes; kept only while it is open.
    staleTime: Infinity,
    gcTime: 0,
  });
}
