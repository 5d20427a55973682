import type { EventEnvelope } from '@vitto/contracts';
import type { Step, StepKind, StepList } from './step.ts';

/** A list of steps while events are folded into it. */
export class StepDraft {
  readonly #steps: Step[];
  readonly #index: Map<string, number>;
  #openWait: string | null;

  constructor(list: StepList) {
    this.#steps = [...list.steps];
    this.#index = new Map(list.index);
    this.#openWait = list.openWait;
  }

  find(key: string): Step | null {
    const at = this.#index.get(key);
    return at === undefined ? null : (this.#steps[at] ?? null);
  }

  /** Adds an event to the step with this key, which begins with it when there is none. */
  add(kind: StepKind, key: string, event: EventEnvelope, change: Partial<Step> = {}): void {
    const known = this.find(key);
    const step: Step = known ?? {
      key,
      kind,
      seq: event.seq,
      startedAt: event.at,
      endedAt: null,
      events: [],
      isTrouble: false,
    };
    this.#put({
      ...step,
      ...change,
      events: [...step.events, event],
      isTrouble: step.isTrouble || change.isTrouble === true,
    });
  }

  /** As `add`; an event of the same type that was the last one goes, so that news of where it stands do not pile up. */
  replaceLast(kind: StepKind, key: string, event: EventEnvelope): void {
    const known = this.find(key);
    if (known?.events.at(-1)?.type !== event.type) return this.add(kind, key, event);
    this.#put({ ...known, events: [...known.events.slice(0, -1), event] });
  }

  /** A step of one event, at one moment. */
  addMoment(kind: StepKind, event: EventEnvelope, isTrouble = false): void {
    this.add(kind, `${kind}:${event.seq}`, event, { endedAt: event.at, isTrouble });
  }

  openWait(event: EventEnvelope): void {
    this.#openWait = `wait:${event.seq}`;
    this.add('wait', this.#openWait, event);
  }

  /** Ends the wait that is open; true when there was one. */
  endWait(event: EventEnvelope): boolean {
    if (this.#openWait === null) return false;
    this.add('wait', this.#openWait, event, { endedAt: event.at });
    this.#openWait = null;
    return true;
  }

  /** The task has ended: nothing goes on. */
  endAll(at: string): void {
    for (const step of this.#steps) if (step.endedAt === null) this.#put({ ...step, endedAt: at });
    this.#openWait = null;
  }

  finish(): StepList {
    return { steps: this.#steps, index: this.#index, openWait: this.#openWait };
  }

  #put(step: Step): void {
    const at = this.#index.get(step.key);
    if (at === undefined) {
      this.#index.set(step.key, this.#steps.length);
      this.#steps.push(step);
    } else this.#steps[at] = step;
  }
}
