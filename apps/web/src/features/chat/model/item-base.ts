/** What every item of a conversation has. */
export interface ItemBase {
  /** Stable while the conversation is open. */
  readonly key: string;
  readonly taskId: string;
  readonly at: string;
  /** Where it first stands in the journal; later items have later positions. */
  readonly position: number;
  /** The message that stands in for this part of the conversation; absent while the part counts. */
  readonly replacedBy?: string;
}
