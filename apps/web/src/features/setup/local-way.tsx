import type { ModelSetup, ModelTest } from '@vitto/contracts';
import { Button } from '../../components/button.tsx';
import { CodeWords } from '../../components/code-words.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { setupStrings } from './strings.ts';
import { TryOutcome } from './try-outcome.tsx';
import { useTryModel } from './use-try-model.ts';

interface LocalWayProps {
  ollama: ModelSetup['ollama'];
  isLooking: boolean;
  onLook: () => void;
  onWorks: (model: string, test: ModelTest) => void;
}

/** The models of an Ollama on this machine: one press tests and takes one. */
export function LocalWay({ ollama, isLooking, onLook, onWorks }: LocalWayProps) {
  const words = useFeatureStrings(setupStrings);
  const attempt = useTryModel(onWorks);
  const models = ollama?.models ?? [];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-muted">
        <CodeWords
          text={
            ollama === null
              ? words.localNone
              : models.length === 0
                ? words.localEmpty
                : words.localFound(ollama.baseUrl)
          }
        />
      </p>
      <ul className="flex flex-wrap gap-2 empty:hidden">
        {models.map((model) => (
          <li key={model} className="min-w-0">
            <Button
              className="max-w-full"
              aria-disabled={attempt.step !== null}
              onClick={() =>
                void attempt.start({ provider: undefined, access: null, model: `ollama/${model}` })
              }
            >
              <span className="mono truncate">{words.use(model)}</span>
            </Button>
          </li>
        ))}
      </ul>
      <TryOutcome attempt={attempt} />
      <Button look="quiet" className="justify-self-start" aria-disabled={isLooking} onClick={onLook}>
        {words.look}
      </Button>
    </div>
  );
}
