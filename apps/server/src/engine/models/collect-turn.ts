import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { AssistantPart } from './model.ts';
import { makeToolCallPart } from './tool-input.ts';

type Metadata = AssistantPart['providerOptions'];
type Block = { type: 'text' | 'reasoning'; deltas: string[]; metadata: Metadata };
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/**
 * Gathers the parts of one stream into the assistant message, in the order in which its blocks began. Provider metadata
 * (reasoning signatures, item ids) becomes `providerOptions`, as the provider wants it back.
 */
export class TurnCollector {
  readonly #provider: string;
  readonly #blocks: (Block | AssistantPart)[] = [];
  readonly #open = new Map<string, Block>();
  /** The first half of a character whose second half comes with the next delta, by block. */
  readonly #halves = new Map<string, string>();
  #finish: Finish | null = null;

  /** `provider` marks reasoning as its own, since another provider must not be given it. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Takes one part. Gives the whole characters to show for a text or reasoning delta, `''` when there are none. */
  add(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(kindOf(part.type), part.id, part.providerMetadata);
        return '';
      case 'text-delta':
      case 'reasoning-delta':
        return this.#append(kindOf(part.type), part.id, part.delta, part.providerMetadata);
      case 'text-end':
      case 'reasoning-end':
        return this.#end(kindOf(part.type), part.id, part.providerMetadata);
      case 'finish':
        this.#finish = part;
        return '';
      default:
        this.#addWhole(part);
        return '';
    }
  }

  get finish(): { reason: Finish['finishReason']; usage: LanguageModelV4Usage } | null {
    return this.#finish === null ? null : { reason: this.#finish.finishReason, usage: this.#finish.usage };
  }

  /** The message so far. Blocks that hold neither text nor metadata are left out: providers refuse empty ones. */
  content(): AssistantPart[] {
    return this.#blocks.flatMap((block) => {
      if (!('deltas' in block)) return [block];
      const text = block.deltas.join('').toWellFormed();
      if (text === '' && block.metadata === undefined) return [];
      const own = block.type === 'reasoning' ? { vitto: { from: this.#provider } } : {};
      const providerOptions = { ...block.metadata, ...own };
      const hasOptions = Object.keys(providerOptions).length > 0;
      return [{ type: block.type, text, ...(hasOptions ? { providerOptions } : {}) }];
    });
  }

  #start(type: Block['type'], id: string, metadata: Metadata): Block {
    const block: Block = { type, deltas: [], metadata };
    this.#blocks.push(block);
    this.#open.set(`${type} ${id}`, block);
    return block;
  }

  #append(type: Block['type'], id: string, delta: string, metadata: Metadata): string {
    const key = `${type} ${id}`;
    const block = this.#open.get(key) ?? this.#start(type, id, undefined);
    block.metadata = merge(block.metadata, metadata);
    block.deltas.push(delta);
    let shown = (this.#halves.get(key) ?? '') + delta;
    this.#halves.delete(key);
    if (/[\ud800-\udbff]$/u.test(shown)) {
      this.#halves.set(key, shown.slice(-1));
      shown = shown.slice(0, -1);
    }
    return shown.toWellFormed();
  }

  #end(type: Block['type'], id: string, metadata: Metadata): string {
    const key = `${type} ${id}`;
    const block = this.#open.get(key);
    if (block !== undefined) block.metadata = merge(block.metadata, metadata);
    this.#open.delete(key);
    const half = this.#halves.get(key) ?? '';
    this.#halves.delete(key);
    return half.toWellFormed();
  }

  /** `custom` parts are left out: they tell of features that are never asked for here, or of the stream itself. */
  #addWhole(part: LanguageModelV4StreamPart): void {
    if (part.type === 'tool-call') {
      this.#blocks.push(makeToolCallPart(part));
    } else if (part.type === 'file' || part.type === 'reasoning-file') {
      const { providerMetadata, ...rest } = part;
      const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
      this.#blocks.push({ ...rest, ...options });
    }
  }
}

function kindOf(type: string): Block['type'] {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

/** Later fields win, earlier ones stay, provider by provider. */
function merge(before: Metadata, after: Metadata): Metadata {
  if (before === undefined || after === undefined) return after ?? before;
  const merged = { ...before };
  for (const [provider, fields] of Object.entries(after)) {
    merged[provider] = { ...merged[provider], ...fields };
  }
  return merged;
}
