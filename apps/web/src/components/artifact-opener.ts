import { createContext, use } from 'react';

/** Shows an artifact beside what is read; `null` where a page has no place for it. */
export const ArtifactOpener = createContext<((id: string) => void) | null>(null);

export function useArtifactOpener(): ((id: string) => void) | null {
  return use(ArtifactOpener);
}
