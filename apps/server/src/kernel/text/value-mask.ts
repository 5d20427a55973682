import { secretForms } from './secret-forms.ts';

/** A shorter value would be masked in every other sentence. */
export const SHORTEST_VALUE = 6;
const HEAD = SHORTEST_VALUE;

interface Form {
  text: string;
  name: string;
}

/**
 * Finds the values of named secrets in text. One pass over the text, whatever the number of values: nearly every
 * place is passed over by two looks into small tables.
 */
export class ValueMask {
  readonly #byHead = new Map<string, Form[]>();
  readonly #first = new Uint8Array(1 << 16);
  readonly #second = new Uint8Array(1 << 16);
  readonly #values = new Set<string>();
  #longest = 0;

  constructor(values: Iterable<{ name: string; value: string }> = []) {
    for (const { name, value } of values) {
      this.#values.add(value);
      if (value.length < SHORTEST_VALUE) continue;
      for (const form of secretForms(value)) this.#add(form, name);
    }
    // Longest first, so that a value that contains another is masked whole.
    for (const forms of this.#byHead.values()) forms.sort((a, b) => b.text.length - a.text.length);
  }

  /** Length of the longest form, in UTF-16 units. */
  get longest(): number {
    return this.#longest;
  }

  knows(value: string): boolean {
    return this.#values.has(value);
  }

  mask(text: string): string {
    if (this.#byHead.size === 0) return text;
    let masked = '';
    let from = 0;
    for (let at = 0; at + HEAD <= text.length; at += 1) {
      if (this.#first[pairAt(text, at)] === 0 || this.#second[pairAt(text, at + 2)] === 0) continue;
      const form = this.#byHead.get(text.slice(at, at + HEAD))?.find((one) => text.startsWith(one.text, at));
      if (form === undefined) continue;
      masked += `${text.slice(from, at)}[secret ${form.name} masked]`;
      from = at + form.text.length;
      at = from - 1;
    }
    return from === 0 ? text : masked + text.slice(from);
  }

  #add(text: string, name: string): void {
    if (text.length < HEAD) return;
    const head = text.slice(0, HEAD);
    const forms = this.#byHead.get(head) ?? [];
    if (forms.some((one) => one.text === text)) return;
    this.#byHead.set(head, [...forms, { text, name }]);
    this.#first[pairAt(text, 0)] = 1;
    this.#second[pairAt(text, 2)] = 1;
    this.#longest = Math.max(this.#longest, text.length);
  }
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}
