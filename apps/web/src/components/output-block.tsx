/** Plain output in its own scroll frame. Text only, whatever it holds. */
export function OutputBlock({ text, label }: { text: string; label: string }) {
  return (
    <pre
      tabIndex={0}
      role="group"
      aria-label={label}
      dir="auto"
      className="mono max-h-80 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {text}
    </pre>
  );
}
