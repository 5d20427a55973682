import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useStrings } from '../i18n/strings-context.tsx';
import { Button } from './button.tsx';

interface ConfirmProps {
  /** The act: `Delete`. */
  label: string;
  /** What it acts on, for who does not see it: `Delete the secret NAME`. */
  name: string;
  /** What is lost, as a question. */
  question: ReactNode;
  isBusy: boolean;
  onConfirm: () => void;
}

/** An act that cannot be taken back is asked about where it stands. Escape and Cancel leave everything as it is. */
export function ConfirmInPlace({ label, name, question, isBusy, onConfirm }: ConfirmProps) {
  const strings = useStrings();
  const [isAsking, setAsking] = useState(false);
  const cancel = useRef<HTMLButtonElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  useEffect(() => {
    if (isAsking) cancel.current?.focus();
    else if (wasAsking.current) opener.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);

  if (!isAsking) {
    return (
      <Button ref={opener} look="danger" aria-label={name} onClick={() => setAsking(true)}>
        {label}
      </Button>
    );
  }
  return (
    <div
      role="group"
      aria-label={name}
      className="appear flex flex-wrap items-center gap-2"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        setAsking(false);
      }}
    >
      <p>{question}</p>
      <Button ref={cancel} onClick={() => setAsking(false)}>
        {strings.app.cancel}
      </Button>
      <Button look="danger" aria-disabled={isBusy} onClick={() => !isBusy && onConfirm()}>
        {label}
      </Button>
    </div>
  );
}
