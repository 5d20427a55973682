import { useRef } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useAction } from '../use-action.ts';
import { testModel } from './models-api.ts';
import { modelsStrings } from './strings.ts';
import { TestOutcome, useLastTest } from './test-outcome.tsx';

interface ModelRowProps {
  model: string;
  at: number;
  count: number;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

/** A model of the list. It keeps the focus when it moves, so that a key moves it on. */
export function ModelRow({ model, at, count, onMove, onRemove }: ModelRowProps) {
  const words = useFeatureStrings(modelsStrings);
  const { client } = useVitto();
  const test = useAction((key) => testModel(client, model, key));
  const { run, last } = useLastTest(test);
  const up = useRef<HTMLButtonElement>(null);
  const down = useRef<HTMLButtonElement>(null);
  const move = (by: -1 | 1) => {
    onMove(by);
    const isAtEnd = by === -1 ? at === 1 : at === count - 2;
    // At the end of the list the button that was pressed has nothing more to do; the other one has.
    const button = (by === -1) === isAtEnd ? down : up;
    window.requestAnimationFrame(() => button.current?.focus());
  };
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-2 ps-3">
      <div className="flex flex-wrap items-center gap-1">
        <span className="tabular w-5 shrink-0 text-muted" aria-hidden="true">
          {at + 1}
        </span>
        <code className="mono min-w-0 flex-1 basis-40 font-medium break-all max-sm:basis-[calc(100%-1.75rem)]">
          {model.toWellFormed()}
        </code>
        <Button
          aria-label={test.isBusy ? undefined : words.testName(model)}
          aria-disabled={test.isBusy}
          onClick={() => void run()}
        >
          {test.isBusy ? words.testing : words.test}
        </Button>
        <Step ref={up} icon="up" label={words.up(model)} isOff={at === 0} onPress={() => move(-1)} />
        <Step
          ref={down}
          icon="down"
          label={words.down(model)}
          isOff={at === count - 1}
          onPress={() => move(1)}
        />
        <Step icon="close" label={words.remove(model)} isOff={false} onPress={onRemove} />
      </div>
      <TestOutcome result={last} error={test.error} />
    </li>
  );
}

function Step(props: {
  ref?: React.Ref<HTMLButtonElement>;
  icon: 'up' | 'down' | 'close';
  label: string;
  isOff: boolean;
  onPress: () => void;
}) {
  return (
    <Button
      ref={props.ref}
      look="quiet"
      className="size-8 px-0 aria-disabled:opacity-40"
      aria-label={props.label}
      aria-disabled={props.isOff}
      onClick={() => !props.isOff && props.onPress()}
    >
      <Icon name={props.icon} />
    </Button>
  );
}
