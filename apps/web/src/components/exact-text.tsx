import { revealHidden } from '../features/chat/model/reveal-hidden.ts';

/** A text as it is, letter by letter: what would not show is written out, and nothing turns the reading direction. */
export function ExactText({ text }: { text: string }) {
  return (
    <code
      className="mono block whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:isolate]"
      dir="ltr"
    >
      {revealHidden(text).map((piece, index) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          <mark key={index} className="rounded-sm bg-red-soft px-0.5 text-red outline outline-red-line">
            {piece.code}
          </mark>
        ),
      )}
    </code>
  );
}
