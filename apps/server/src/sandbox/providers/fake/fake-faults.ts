import { ProviderError, type ProviderErrorCode } from '../sandbox-provider.ts';

export type FakeCall = 'create' | 'restore' | 'suspend' | 'destroy' | 'adopt' | 'forget' | 'makeBaseSnapshot';

/** What goes wrong or takes its time in a fake provider, and how often each call came. */
export class FakeFaults {
  readonly counts: Record<FakeCall, number> = {
    create: 0,
    restore: 0,
    suspend: 0,
    destroy: 0,
    adopt: 0,
    forget: 0,
    makeBaseSnapshot: 0,
  };
  readonly #failures = new Map<FakeCall, (Error | null)[]>();
  readonly #holds = new Map<FakeCall, { enter: () => void; released: Promise<void> }[]>();

  /** The next call of this kind that has no fault yet fails; by default with a `ProviderError` of its own kind. */
  failNext(call: FakeCall, error: Error | null = null): void {
    this.#failures.set(call, [...(this.#failures.get(call) ?? []), error]);
  }

  /** The next call of this kind waits until `release`; `entered` settles when it is there. */
  holdNext(call: FakeCall): { entered: Promise<void>; release: () => void } {
    const entered = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const hold = { enter: entered.resolve, released: released.promise };
    this.#holds.set(call, [...(this.#holds.get(call) ?? []), hold]);
    return { entered: entered.promise, release: released.resolve };
  }

  async enter(call: FakeCall, code: ProviderErrorCode): Promise<void> {
    this.counts[call] += 1;
    const hold = this.#holds.get(call)?.shift();
    hold?.enter();
    await hold?.released;
    const failure = this.#failures.get(call)?.shift();
    if (failure !== undefined) throw failure ?? new ProviderError(code, `A fault was asked for in ${call}.`);
  }
}
