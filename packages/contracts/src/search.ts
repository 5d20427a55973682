import { z } from 'zod';

/** Search over one's own conversations: titles, what was written, and what tasks resulted in. */

export const searchQuery = z.object({
  q: z.string().trim().min(1).max(200),
  limit: z.coerce.number().int().min(1).max(100).default(30),
});

export const searchHit = z.object({
  conversationId: z.uuid(),
  title: z.string(),
  taskId: z.uuid().nullable(),
  kind: z.enum(['title', 'message', 'result']),
  /** Parts of the text around what was found, in order; `isMatch` where the words are. Plain text. */
  excerpt: z.array(z.object({ text: z.string(), isMatch: z.boolean() })),
  position: z.number().int().nullable(),
  at: z.iso.datetime({ offset: true }),
});
export type SearchHit = z.infer<typeof searchHit>;
export const searchResults = z.object({ items: z.array(searchHit) });
