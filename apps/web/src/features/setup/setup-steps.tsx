import type { ModelTest } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { modelSetupQuery } from '../settings/models/models-api.ts';
import { Loaded } from '../settings/parts.tsx';
import { CapStep } from './cap-step.tsx';
import { KeyWay } from './key-way.tsx';
import { LocalWay } from './local-way.tsx';
import { setupStrings } from './strings.ts';
import { UrlWay } from './url-way.tsx';

interface SetupStepsProps {
  onDone: () => void;
  /** A model has answered, and is not taken yet. */
  onBegin?: () => void;
  /** The person looks for another one after all. */
  onAgain?: () => void;
}

/** The ways to a model, each tested before it counts; then what a day may cost. */
export function SetupSteps({ onDone, onBegin, onAgain }: SetupStepsProps) {
  const words = useFeatureStrings(setupStrings);
  const { client } = useVitto();
  const setup = useQuery(modelSetupQuery(client));
  const [working, setWorking] = useState<{ model: string; test: ModelTest } | null>(null);
  const onWorks = (model: string, test: ModelTest) => {
    onBegin?.();
    setWorking({ model, test });
  };
  const startAgain = () => {
    onAgain?.();
    setWorking(null);
  };
  if (working !== null) return <CapStep {...working} onDone={onDone} onAgain={startAgain} />;
  return (
    <Loaded query={setup}>
      {({ providers, ollama, mayChange }) => {
        const compatible = providers.find((one) => one.name === 'compatible');
        return (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
            {!mayChange && <p className="max-w-prose">{words.ask}</p>}
            {mayChange && (
              <Way title={words.keyTitle} text={words.keyText}>
                <KeyWay providers={providers} onWorks={onWorks} />
              </Way>
            )}
            <Way title={words.localTitle}>
              <LocalWay
                ollama={ollama}
                isLooking={setup.isFetching}
                onLook={() => void setup.refetch()}
                onWorks={onWorks}
              />
            </Way>
            {mayChange && compatible !== undefined && (
              <Way title={words.urlTitle} text={words.urlText}>
                <UrlWay provider={compatible} onWorks={onWorks} />
              </Way>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function Way({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line bg-surface p-4"
    >
      <div>
        <h3 className="text-base font-semibold">{title}</h3>
        {text !== undefined && <p className="text-muted">{text}</p>}
      </div>
      {children}
    </section>
  );
}
