import { useState } from 'react';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { DemoStart } from './demo-start.tsx';
import { SetupSteps } from './setup-steps.tsx';
import { setupStrings } from './strings.ts';

interface SetupPageProps {
  onBegin: () => void;
  onDone: () => void;
}

/** The empty chat of who has no model yet: the ways to one, and the demo. */
export function SetupPage({ onBegin, onDone }: SetupPageProps) {
  const words = useFeatureStrings(setupStrings);
  const [hasAnswered, setAnswered] = useState(false);
  const begin = () => {
    setAnswered(true);
    onBegin();
  };
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div>
        <h2 className="text-2xl font-semibold tracking-tight">{hasAnswered ? words.last : words.title}</h2>
        {!hasAnswered && <p className="mt-1 max-w-prose text-base text-muted">{words.text}</p>}
      </div>
      <SetupSteps onBegin={begin} onDone={onDone} onAgain={() => setAnswered(false)} />
      {!hasAnswered && <DemoStart />}
    </section>
  );
}
