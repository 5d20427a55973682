/** One of a few words, all in sight. */
export function WordSwitch<T extends string>(props: {
  /** What is chosen by it. */
  label: string;
  words: readonly T[];
  chosen: T;
  nameOf: (word: T) => string;
  onChoose: (word: T) => void;
}) {
  return (
    <div
      role="group"
      aria-label={props.label}
      className="flex rounded-md border border-line bg-surface p-0.5"
    >
      {props.words.map((word) => (
        <button
          key={word}
          type="button"
          aria-pressed={word === props.chosen}
          onClick={() => props.onChoose(word)}
          className="min-h-7 rounded-sm px-2.5 text-sm whitespace-nowrap text-muted hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
        >
          {props.nameOf(word)}
        </button>
      ))}
    </div>
  );
}
