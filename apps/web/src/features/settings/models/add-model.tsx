import { useId, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { Icon } from '../../../components/icon.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { parseTyped } from './model-list.ts';
import { modelsStrings } from './strings.ts';

interface AddModelProps {
  models: readonly string[];
  suggestions: readonly string[];
  onAdd: (model: string) => void;
}

/** A model by one press from what there is, or by its name. */
export function AddModel({ models, suggestions, onAdd }: AddModelProps) {
  const words = useFeatureStrings(modelsStrings);
  const draft = useDraft('models.add', '');
  const [error, setError] = useState<string | null>(null);
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const add = (text: string) => {
    const model = parseTyped(text);
    if (model === null) return setError(words.addBad);
    if (models.includes(model)) return setError(words.addKnown);
    setError(null);
    draft.reset();
    onAdd(model);
  };
  return (
    <form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        add(draft.value);
        input.current?.focus();
      }}
    >
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-2">
        <Field label={words.add} description={words.addHelp} error={error}>
          {(control) => (
            <TextInput
              {...control}
              ref={input}
              isExact
              list={listId}
              value={draft.value}
              onKeyDown={(event) => event.key === 'Escape' && draft.reset()}
              onChange={(event) => {
                setError(null);
                draft.change(event.target.value);
              }}
            />
          )}
        </Field>
        <Button type="submit" className="mt-[1.5625rem] min-h-9">
          {words.addButton}
        </Button>
      </div>
      <datalist id={listId}>
        {suggestions.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {suggestions.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-muted">{words.suggestions}</span>
          {suggestions.slice(0, 8).map((model) => (
            <Button
              key={model}
              className="max-w-full"
              aria-label={words.suggest(model)}
              onClick={() => add(model)}
            >
              <Icon name="plus" className="text-accent" />
              <span className="mono truncate">{model}</span>
            </Button>
          ))}
        </div>
      )}
    </form>
  );
}
