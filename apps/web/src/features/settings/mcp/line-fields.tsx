import type { ReactNode } from 'react';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { mcpStrings } from './strings.ts';
import type { Pair } from './transport-draft.ts';

/** The arguments of a program, a field each. */
export function ArgumentLines({ args, onChange }: { args: string[]; onChange: (args: string[]) => void }) {
  const words = useFeatureStrings(mcpStrings);
  return (
    <Lines title={words.args} help={words.argsHelp} add={words.addArg} onAdd={() => onChange([...args, ''])}>
      {args.map((arg, at) => (
        <Line key={at} at={at} onRemove={() => onChange(args.filter((_, other) => other !== at))}>
          <TextInput
            isExact
            aria-label={words.arg(at + 1)}
            value={arg}
            onChange={(event) => onChange(args.with(at, event.target.value))}
          />
        </Line>
      ))}
    </Lines>
  );
}

interface PairLinesProps {
  title: string;
  nameLabel: string;
  namePlaceholder: string;
  valuePlaceholder: string;
  pairs: Pair[];
  onChange: (pairs: Pair[]) => void;
}

/** Names with values; a value may name a secret. */
export function PairLines({ title, nameLabel, pairs, onChange, ...placeholders }: PairLinesProps) {
  const words = useFeatureStrings(mcpStrings);
  const set = (at: number, part: Partial<Pair>) =>
    onChange(pairs.map((pair, other) => (other === at ? { ...pair, ...part } : pair)));
  return (
    <Lines
      title={title}
      help={words.secretHelp}
      add={words.addPair}
      onAdd={() => onChange([...pairs, { name: '', value: '' }])}
    >
      {pairs.map((pair, at) => (
        <Line key={at} at={at} onRemove={() => onChange(pairs.filter((_, other) => other !== at))}>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:grid-cols-[2fr_3fr]">
            <TextInput
              isExact
              aria-label={`${nameLabel} ${at + 1}`}
              placeholder={placeholders.namePlaceholder}
              value={pair.name}
              onChange={(event) => set(at, { name: event.target.value })}
            />
            <TextInput
              isExact
              aria-label={`${words.value} ${at + 1}`}
              placeholder={placeholders.valuePlaceholder}
              value={pair.value}
              onChange={(event) => set(at, { value: event.target.value })}
            />
          </div>
        </Line>
      ))}
    </Lines>
  );
}

function Lines(props: { title: string; help: string; add: string; onAdd: () => void; children: ReactNode }) {
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <legend className="font-medium">{props.title}</legend>
      {props.children}
      <p className="text-muted">{props.help}</p>
      <Button
        className="justify-self-start"
        aria-label={`${props.title}: ${props.add}`}
        onClick={props.onAdd}
      >
        <Icon name="plus" /> {props.add}
      </Button>
    </fieldset>
  );
}

function Line(props: { at: number; onRemove: () => void; children: ReactNode }) {
  const words = useFeatureStrings(mcpStrings);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-1">
      {props.children}
      <Button
        look="quiet"
        className="size-9 px-0 hover:text-red"
        aria-label={words.removeAt(props.at + 1)}
        onClick={props.onRemove}
      >
        <Icon name="close" />
      </Button>
    </div>
  );
}
