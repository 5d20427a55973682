import type { Skill } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Details } from '../../../components/details.tsx';
import { Moment } from '../../../components/moment.tsx';
import { Switch } from '../../../components/switch.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatBytes } from '../../chat/model/format.ts';
import { ActionFailure, Card } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { useChoices } from '../use-choices.ts';
import { SkillText } from './skill-text.tsx';
import { deleteSkill, skillsQuery, switchSkill, type SkillList } from './skills-api.ts';
import { skillsStrings } from './strings.ts';

export function SkillRow({ skill }: { skill: Skill }) {
  const words = useFeatureStrings(skillsStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const { queryKey } = skillsQuery(client);
  const { turn, error } = useSwitch(skill);
  const remove = useAction(async () => {
    await deleteSkill(client, skill.name);
    await queries.invalidateQueries({ queryKey });
  });
  return (
    <Card label={skill.name}>
      <div className="flex flex-wrap items-center gap-2">
        <code className="mono min-w-0 flex-1 font-medium break-all">{skill.name}</code>
        <Switch label={words.use(skill.name)} isLabelHidden isOn={skill.isEnabled} onChange={turn} />
      </div>
      <p className="break-words" dir="auto">
        {skill.description.toWellFormed()}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <p className="tabular min-w-0 flex-1 text-muted">
          {words.files(skill.files.length + 1)} · {formatBytes(skill.bytes)} · {words.updated}{' '}
          <Moment at={skill.updatedAt} />
          {skill.license !== null && ` · ${words.license}: ${skill.license.toWellFormed()}`}
        </p>
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(skill.name)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <ActionFailure title={common.notSaved} error={error} />
      <ActionFailure title={words.notDeleted} error={remove.error} />
      <Details summary={words.view}>
        <SkillText skill={skill} />
      </Details>
    </Card>
  );
}

function useSwitch(skill: Skill) {
  const { client } = useVitto();
  const queries = useQueryClient();
  const { queryKey } = skillsQuery(client);
  const { choose, error } = useChoices<Skill>({
    show: (next) =>
      queries.setQueryData<SkillList>(
        queryKey,
        (list) => list && { items: list.items.map((one) => (one.name === next.name ? next : one)) },
      ),
    refresh: () => void queries.invalidateQueries({ queryKey }),
  });
  const turn = (isEnabled: boolean) =>
    choose({ ...skill, isEnabled }, () => switchSkill(client, skill.name, isEnabled));
  return { turn, error };
}
