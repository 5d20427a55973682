import { z } from 'zod';

/** Largest request, in bytes: there is room for images. */
export const CHAT_BODY_LIMIT = 16 * 1024 * 1024;

/** The body of POST /v1/chat/completions: what Vitto reads of it. Fields that it does not know are left out. */

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.looseObject({ url: z.string() }).optional(),
});
export type ContentPart = z.infer<typeof part>;
const toolCall = z.looseObject({
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

export const chatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(toolCall).nullish(),
});
export type ChatMessage = z.infer<typeof chatMessage>;

export const chatRequest = z.looseObject({
  model: z.string().min(1).max(1000),
  messages: z.array(chatMessage).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  metadata: z.looseObject({ conversation_id: z.uuid().optional() }).nullish(),
});
export type ChatRequest = z.infer<typeof chatRequest>;
