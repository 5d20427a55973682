import type { ConversationView, Item, TaskView } from './view.ts';

type ItemOf<K extends Item['kind']> = Extract<Item, { kind: K }>;

/**
 * A view while a batch of events is folded into it. What the batch does not touch keeps its identity, so that only
 * the items that changed are drawn again.
 */
export class ViewDraft {
  readonly #items: Item[];
  readonly #index: Map<string, number>;
  readonly #tasks: Map<string, TaskView>;
  #ofTask: Map<string, number[]> | null = null;

  constructor(view: ConversationView) {
    this.#items = [...view.items];
    this.#index = new Map(view.index);
    this.#tasks = new Map(view.tasks);
  }

  find<K extends Item['kind']>(kind: K, key: string): ItemOf<K> | null {
    const at = this.#index.get(key);
    const item = at === undefined ? undefined : this.#items[at];
    return item?.kind === kind ? (item as ItemOf<K>) : null;
  }

  /** Adds an item at the end, or puts it in the place of the one with its key. */
  put(item: Item): void {
    const at = this.#index.get(item.key);
    if (at === undefined) {
      this.#index.set(item.key, this.#items.length);
      if (this.#ofTask !== null) addPlace(this.#ofTask, item.taskId, this.#items.length);
      this.#items.push(item);
    } else this.#items[at] = item;
  }

  has(name: string): boolean {
    return this.#index.has(name);
  }

  /** Another name by which an item that is here is found. */
  addName(name: string, key: string): void {
    const at = this.#index.get(key);
    if (at !== undefined) this.#index.set(name, at);
  }

  change<K extends Item['kind']>(kind: K, key: string, change: Partial<ItemOf<K>>): void {
    const item = this.find(kind, key);
    if (item !== null) this.put({ ...item, ...change });
  }

  /** Changes every item of a task and kind for which `change` gives something. */
  changeOfTask<K extends Item['kind']>(
    kind: K,
    taskId: string,
    change: (item: ItemOf<K>) => Partial<ItemOf<K>> | null,
  ): void {
    for (const at of this.#placesOf(taskId)) {
      const item = this.#items[at] as Item;
      if (item.kind !== kind) continue;
      const changed = change(item as ItemOf<K>);
      if (changed !== null) this.put({ ...item, ...changed });
    }
  }

  /** Marks what stands from a position on as replaced by a message; what comes after that message is put in later. */
  setAsideFrom(position: number, messageId: string): void {
    for (let at = this.#items.length - 1; at >= 0; at -= 1) {
      const item = this.#items[at] as Item;
      if (item.position < position) return;
      this.#items[at] = { ...item, replacedBy: messageId };
    }
  }

  /** The newest answer of a task that says something. */
  lastAnswer(taskId: string): ItemOf<'answer'> | null {
    const at = this.#placesOf(taskId).findLast((place) => {
      const item = this.#items[place];
      return item?.kind === 'answer' && item.text.trim() !== '';
    });
    return at === undefined ? null : (this.#items[at] as ItemOf<'answer'>);
  }

  /** Where the items of a task stand. Found for all tasks at once, when it is first asked for. */
  #placesOf(taskId: string): readonly number[] {
    this.#ofTask ??= groupByTask(this.#items);
    return this.#ofTask.get(taskId) ?? [];
  }

  task(id: string): TaskView {
    return this.#tasks.get(id) ?? newTask(id);
  }

  putTask(task: TaskView): void {
    this.#tasks.set(task.id, task);
  }

  /** A task and those above it. */
  lineage(id: string): TaskView[] {
    const line: TaskView[] = [];
    for (let at: string | null = id; at !== null && line.length < 5;) {
      const task = this.task(at);
      line.push(task);
      at = task.parentId;
    }
    return line;
  }

  finish(): ConversationView {
    return { items: this.#items, index: this.#index, tasks: this.#tasks };
  }
}

function groupByTask(items: readonly Item[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, item] of items.entries()) addPlace(places, item.taskId, at);
  return places;
}

function addPlace(places: Map<string, number[]>, taskId: string, at: number): void {
  const known = places.get(taskId);
  if (known === undefined) places.set(taskId, [at]);
  else known.push(at);
}

function newTask(id: string): TaskView {
  return {
    id,
    parentId: null,
    depth: 0,
    // Until an event says otherwise.
    state: 'completed',
    startedAt: null,
    isWhole: false,
    spending: { iterations: 0, tokens: 0, costUsd: 0, durationMs: 0 },
    isScripted: false,
    turn: 0,
  };
}
