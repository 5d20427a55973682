import { z } from 'zod';
import { readBounded } from '../kernel/network/read-bounded.ts';

const LIMIT_MS = 1_000;
const MAX_BYTES = 1024 * 1024;
const tags = z.object({ models: z.array(z.object({ name: z.string() })).max(1_000) });

/** The models of the Ollama at an address; `null` when none answers there within a second. */
export async function findOllama(baseUrl: string): Promise<{ baseUrl: string; models: string[] } | null> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/api/tags`, {
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    if (!response.ok || response.body === null) return null;
    const body = Buffer.from(await readBounded(response.body, MAX_BYTES, baseUrl)).toString('utf8');
    const { models } = tags.parse(JSON.parse(body));
    return { baseUrl, models: models.map((model) => model.name) };
  } catch {
    // Nobody there, no Ollama, or too slow: for the set-up page it is all the same.
    return null;
  }
}
