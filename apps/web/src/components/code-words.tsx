/** A sentence of the catalogue in which `words between backticks` are commands. */
export function CodeWords({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={index} className="mono rounded-sm bg-sunken px-1">
        {part}
      </code>
    ),
  );
}
