import { createContext, use, useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { useStrings } from '../i18n/strings-context.tsx';
import { CopyIcon } from './copy-icon.tsx';
import type { CodePiece } from './highlight.ts';

/** True within text that is still being written: its code gets its colours when it is whole. */
export const IsBeingWritten = createContext(false);

/** Longer code stays plain: to colour it would be felt. */
const COLOUR_MAX = 50_000;

/** A block of code: its language, a button that copies it, and colours once they are loaded. */
export function CodeBlock({ children }: { children?: ReactNode }) {
  const strings = useStrings();
  const { text, language } = readCode(children);
  const pieces = useColours(text, language);
  return (
    <div className="code-block" dir="ltr">
      <div className="flex min-h-8 items-center gap-2 border-b border-line ps-3 pe-1 text-xs text-muted">
        <span className="mono flex-1 truncate">{language}</span>
        <CopyIcon label={strings.answer.copyCode} done={strings.answer.copied} getText={() => text} />
      </div>
      <pre tabIndex={0}>
        <code>
          {pieces === null
            ? text
            : pieces.map((piece, index) => (
                <span key={index} className={piece.look === '' ? undefined : piece.look}>
                  {piece.text}
                </span>
              ))}
        </code>
      </pre>
    </div>
  );
}

/** What stands in the `code` element that Markdown makes. */
function readCode(children: ReactNode): { text: string; language: string } {
  const element = children as ReactElement<{ className?: string; children?: ReactNode }> | undefined;
  const text = typeof element?.props.children === 'string' ? element.props.children : '';
  const language = /language-(\S+)/.exec(element?.props.className ?? '')?.[1] ?? '';
  return { text: text.replace(/\n$/, ''), language: language.toLowerCase().slice(0, 40) };
}

function useColours(text: string, language: string): CodePiece[] | null {
  const isBeingWritten = use(IsBeingWritten);
  const [coloured, setColoured] = useState<{ text: string; pieces: CodePiece[] | null } | null>(null);
  const isWanted = !isBeingWritten && language !== '' && text.length <= COLOUR_MAX;
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    // Code without colours can be read as well: a file that does not come is no failure.
    void import('./highlight.ts')
      .then(({ highlight }) => highlight(text, language))
      .then(
        (pieces) => isCurrent && setColoured({ text, pieces }),
        () => {},
      );
    return () => {
      isCurrent = false;
    };
  }, [isWanted, text, language]);
  return isWanted && coloured?.text === text ? coloured.pieces : null;
}
