import { memo } from 'react';
import type { TerminalLook } from '../features/chat/model/terminal-look.ts';
import type { TerminalRun } from '../features/chat/model/terminal-runs.ts';

/** Output of a terminal as text with its colours; nothing in it is ever read as HTML. */
export const TerminalText = memo(function TerminalText({ runs }: { runs: readonly TerminalRun[] }) {
  return runs.map(({ text, look }, index) => {
    const className = toClasses(look);
    if (look.link !== null) {
      return (
        <a
          key={index}
          href={look.link}
          title={look.link}
          target="_blank"
          rel="noopener noreferrer"
          className={`text-accent underline underline-offset-2 ${className}`}
        >
          {text}
        </a>
      );
    }
    return className === '' ? (
      text
    ) : (
      <span key={index} className={className}>
        {text}
      </span>
    );
  });
});

/** Fixed classes, whatever the output asked for. On a tint the ink is the page's own: the two could be alike. */
function toClasses(look: TerminalLook): string {
  const tint = look.isReversed ? (look.hue ?? 'grey') : look.tint;
  const hue = tint === null ? (look.isFaint ? 'grey' : look.hue) : null;
  return [
    hue === null ? '' : `hue-${hue}`,
    tint === null ? '' : `tint-${tint}`,
    look.isBold ? 'font-semibold' : '',
    look.isItalic ? 'italic' : '',
    look.isUnderlined ? 'underline' : '',
    look.isStruck ? 'line-through' : '',
  ]
    .filter((name) => name !== '')
    .join(' ');
}
