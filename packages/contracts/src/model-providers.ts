import { z } from 'zod';
import { spending, usage } from './budget.ts';
import { failure } from './events.ts';

/** Providers of language models, and how each of them is set up. */

const time = z.iso.datetime({ offset: true });

export const MODEL_PROVIDERS = [
  'anthropic',
  'openai',
  'google',
  'openrouter',
  'ollama',
  'compatible',
] as const;
export const modelProviderName = z.enum(MODEL_PROVIDERS);
export type ModelProviderName = z.infer<typeof modelProviderName>;

/** A provider as people see it: never its key. */
export const modelProvider = z.object({
  name: modelProviderName,
  isConfigured: z.boolean(),
  /** Where the setting comes from: the environment wins over what was entered in the app. */
  source: z.enum(['environment', 'app']).nullable(),
  baseUrl: z.string().nullable(),
  hasKey: z.boolean(),
  needsKey: z.boolean(),
  updatedAt: time.nullable(),
  /** A model of it that is offered first, as `provider/model`. */
  suggestedModel: z.string().nullable(),
});
export type ModelProvider = z.infer<typeof modelProvider>;

/** A local model server that answered on this machine. */
export const foundOllama = z.object({ baseUrl: z.string(), models: z.array(z.string()) });

export const modelSetup = z.object({
  providers: z.array(modelProvider),
  /** `null`: none answers on 127.0.0.1:11434. */
  ollama: foundOllama.nullable(),
  /** The models of the role `main` that a new task of mine gets, in the order they are tried. */
  mainModels: z.array(z.string()),
  /** True when this person may set up providers for the whole installation. */
  mayChange: z.boolean(),
});
export type ModelSetup = z.infer<typeof modelSetup>;

export const setModelProvider = z.strictObject({
  /** Write-only. Absent: the stored key is kept. */
  apiKey: z.string().trim().min(1).max(4000).optional(),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .nullable()
    .optional(),
});
export type SetModelProvider = z.infer<typeof setModelProvider>;

export const testModel = z.strictObject({
  /** One model, as `provider/model`. */
  model: z.string().min(1).max(300),
  /** Access to the model's provider that is tried before it is stored: nothing of it is kept. */
  access: setModelProvider.optional(),
});
/** What a model said to a short question, or why it did not. */
export const modelTest = z.object({
  model: z.string(),
  isOk: z.boolean(),
  text: z.string(),
  durationMs: z.number(),
  usage: usage.nullable(),
  costUsd: spending.shape.costUsd,
  error: failure.nullable(),
});
export type ModelTest = z.infer<typeof modelTest>;
