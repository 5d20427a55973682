import { useState } from 'react';
import { Button } from './button.tsx';

/** Puts a text on the clipboard and says so. Where there is no clipboard (plain HTTP) the text can be selected. */
export function CopyButton({ text, label, done }: { text: string; label: string; done: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  if (!window.isSecureContext) return null;
  return (
    <span className="inline-flex items-center gap-2">
      <Button onClick={() => void copy()}>{label}</Button>
      <span role="status" className="text-green">
        {isCopied ? done : ''}
      </span>
    </span>
  );
}
