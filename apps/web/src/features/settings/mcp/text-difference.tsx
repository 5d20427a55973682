import { ExactText } from '../../../components/exact-text.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { diffLines, type ToolDifference } from './diff-tools.ts';
import { mcpStrings } from './strings.ts';

const LOOKS = {
  same: { sign: ' ', look: 'text-muted' },
  removed: { sign: '−', look: 'bg-red-soft text-red' },
  added: { sign: '+', look: 'bg-accent-soft text-accent' },
} as const;

/** A text before and now, line by line: a sign and a word beside the colour. */
export function TextDifference({ part }: { part: ToolDifference }) {
  const words = useFeatureStrings(mcpStrings);
  return (
    <figure aria-label={words.parts[part.part]}>
      <figcaption className="text-xs text-muted">{words.parts[part.part]}</figcaption>
      <div className="max-h-96 overflow-y-auto rounded-md border border-line" tabIndex={0}>
        {diffLines(part.before, part.after).map((line, at) => (
          <div
            key={at}
            className={`grid grid-cols-[1.25rem_minmax(0,1fr)] px-2 py-px ${LOOKS[line.kind].look}`}
          >
            <span className="mono select-none" aria-hidden="true">
              {LOOKS[line.kind].sign}
            </span>
            <span>
              {line.kind !== 'same' && (
                <span className="sr-only">{line.kind === 'removed' ? words.before : words.now}: </span>
              )}
              <ExactText text={line.text} />
            </span>
          </div>
        ))}
      </div>
    </figure>
  );
}
