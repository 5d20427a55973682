import { useEffect, useRef, useState } from 'react';
import { addFolder, type FolderAccess } from './folder-access.ts';
import { readFolder, type TypedFolder } from './read-folder.ts';

type Refusal = Extract<TypedFolder, { kind: 'refused' }>['reason'];

/** What is typed as a folder: it stays until the folder has been added. */
export function useFolderField(access: FolderAccess) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isLeft, setLeft] = useState(false);
  const [added, setAdded] = useState<string | null>(null);
  const focus = () => input.current?.focus();
  // When the panel opens, and when something has been refused.
  useEffect(() => input.current?.focus(), [access.error]);

  const write = (next: string) => {
    setText(next);
    setRefusal(null);
    setAdded(null);
    setLeft(false);
  };
  /** Somebody goes on to write: what is still typed here would be missing from the task. */
  const leave = () => setLeft(text.trim() !== '');
  const add = async () => {
    focus();
    if (access.isChanging) return;
    const typed = readFolder(text, access.folders);
    if (typed.kind === 'refused') return setRefusal(typed.reason);
    if (!(await access.change(addFolder(typed.path)))) return;
    write('');
    setAdded(typed.path);
  };
  return { input, text, write, add, refusal, added, isLeft, leave, focus };
}
