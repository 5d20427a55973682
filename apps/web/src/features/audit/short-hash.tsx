/** The beginning of a hash; the whole of it on hover, and where there is room. */
export function ShortHash({ hash, isWhole = false }: { hash: string; isWhole?: boolean }) {
  return (
    <code className="mono [overflow-wrap:anywhere]" title={hash}>
      {isWhole ? hash : hash.slice(0, 10)}
    </code>
  );
}
