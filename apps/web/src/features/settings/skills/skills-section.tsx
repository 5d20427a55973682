import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { Loaded, Part } from '../parts.tsx';
import { EMPTY_SKILL, SkillForm } from './skill-form.tsx';
import { SkillRow } from './skill-row.tsx';
import { skillsQuery } from './skills-api.ts';
import { skillsStrings } from './strings.ts';

export function SkillsSection() {
  const words = useFeatureStrings(skillsStrings);
  const { client } = useVitto();
  const skills = useQuery(skillsQuery(client));
  const [isAdding, setAdding] = useState(useDraft('skills.add', EMPTY_SKILL).isChanged);
  return (
    <>
      <p className="max-w-prose text-muted">{words.text}</p>
      <Part
        title={words.list}
        actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
      >
        {isAdding && <SkillForm onClose={() => setAdding(false)} />}
        <Loaded query={skills}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="text-muted">{words.empty}</p>
            ) : (
              <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
                {items.map((one) => (
                  <SkillRow key={one.name} skill={one} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Part>
    </>
  );
}
