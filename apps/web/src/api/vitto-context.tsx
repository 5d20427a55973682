import { createContext, use } from 'react';
import type { ApiClient } from './client.ts';
import type { EventStream } from './event-stream.ts';
import type { VittoApi } from './vitto-api.ts';

/** What the whole app works with; made once in `main.tsx`. */
export interface Vitto {
  api: VittoApi;
  /** For the routes that one feature alone uses. */
  client: ApiClient;
  stream: EventStream;
}

export const VittoContext = createContext<Vitto | null>(null);

export function useVitto(): Vitto {
  const vitto = use(VittoContext);
  if (vitto === null) throw new Error('VittoContext is missing');
  return vitto;
}
