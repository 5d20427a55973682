import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { TextArea } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, fieldError, SaveLine } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { FolderDrop } from './folder-drop.tsx';
import type { SkillFolder } from './read-skill-folder.ts';
import { putSkill, skillsQuery } from './skills-api.ts';
import { skillsStrings } from './strings.ts';

export const EMPTY_SKILL = { text: '', folder: null as SkillFolder | null };

/** A skill by the text of its SKILL.md, or with its whole folder. The server reads the name and says what is wrong. */
export function SkillForm({ onClose }: { onClose: () => void }) {
  const words = useFeatureStrings(skillsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const draft = useDraft('skills.add', EMPTY_SKILL);
  const { text, folder } = draft.value;
  const [isMissing, setMissing] = useState(false);
  const add = useAction((_key) => putSkill(client, { text, files: folder?.files ?? [] }));
  const change = (next: typeof EMPTY_SKILL) => {
    setMissing(false);
    add.forget();
    draft.change(next);
  };
  const close = () => {
    draft.reset();
    onClose();
  };
  const submit = async () => {
    if (text.trim() === '') return setMissing(true);
    if ((await add.run()) === null) return;
    close();
    await queries.invalidateQueries({ queryKey: skillsQuery(client).queryKey });
  };
  return (
    <form
      noValidate
      className="appear grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line-strong p-3"
      onKeyDown={(event) => event.key === 'Escape' && close()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FolderDrop folder={folder} onFolder={(next) => change({ text: next.text, folder: next })} />
      <Field
        label={words.paste}
        description={words.pasteHelp}
        error={isMissing ? words.pasteMissing : fieldError(add.error, 'text')}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={10}
            placeholder={words.pastePlaceholder}
            value={text}
            onChange={(event) => change({ text: event.target.value, folder })}
          />
        )}
      </Field>
      <p className="text-muted">{words.replaces}</p>
      <ActionFailure title={words.notAdded} error={add.error} />
      <SaveLine label={words.add} isBusy={add.isBusy} onCancel={close} />
    </form>
  );
}
