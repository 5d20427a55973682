import { useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import {
  listDropped,
  MAX_SKILL_FILES,
  readSkillFolder,
  type ChosenFile,
  type SkillFolder,
} from './read-skill-folder.ts';
import { skillsStrings } from './strings.ts';

type Refusal = 'no-skill-file' | 'too-many' | 'unreadable';

/** Where a folder is chosen, or dropped. */
export function FolderDrop(props: { folder: SkillFolder | null; onFolder: (folder: SkillFolder) => void }) {
  const words = useFeatureStrings(skillsStrings);
  const { folder, onFolder } = props;
  const input = useRef<HTMLInputElement>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isOver, setOver] = useState(false);
  const take = async (chosen: Promise<ChosenFile[]>) => {
    setRefusal(null);
    try {
      const read = await readSkillFolder(await chosen);
      if (read.kind === 'refused') setRefusal(read.reason);
      else onFolder(read.folder);
    } catch {
      setRefusal('unreadable');
    }
  };
  const says = {
    'no-skill-file': words.noSkillFile,
    'too-many': words.tooMany(MAX_SKILL_FILES),
    unreadable: words.unreadable,
  };
  return (
    <div
      className={`grid gap-2 rounded-lg border border-dashed p-3 ${isOver ? 'border-accent bg-accent-soft' : 'border-line-strong'}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void take(listDropped(event.dataTransfer.items));
      }}
    >
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => input.current?.click()}>
          <Icon name="folder" /> {words.choose}
        </Button>
        <span className="text-muted">{words.drop}</span>
      </div>
      <input
        ref={input}
        type="file"
        // A whole folder; where a browser cannot, it takes files.
        webkitdirectory=""
        multiple
        hidden
        aria-label={words.choose}
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])];
          event.target.value = '';
          if (chosen.length > 0)
            void take(
              Promise.resolve(chosen.map((file) => ({ path: file.webkitRelativePath || file.name, file }))),
            );
        }}
      />
      <p role="status" className="empty:hidden" dir="auto">
        {folder !== null && (
          <>
            {words.folder(folder.name.toWellFormed(), folder.files.length)}
            {folder.hasIgnored && <span className="text-muted"> ({words.ignored})</span>}
          </>
        )}
      </p>
      {refusal !== null && (
        <p role="alert" className="text-red">
          {says[refusal]}
        </p>
      )}
    </div>
  );
}
