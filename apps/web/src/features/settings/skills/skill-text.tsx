import type { Skill } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Markdown } from '../../../components/markdown.tsx';
import { OutputBlock } from '../../../components/output-block.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatBytes } from '../../chat/model/format.ts';
import { Loaded } from '../parts.tsx';
import { bodyOf } from './front-matter.ts';
import { skillFileAddress, skillQuery } from './skills-api.ts';
import { skillsStrings } from './strings.ts';

const TAB =
  'min-h-8 border-b-2 border-transparent px-2 text-muted data-[state=active]:border-accent data-[state=active]:text-ink';

/** What a skill says: to read, and letter by letter; and which files lie beside it. */
export function SkillText({ skill }: { skill: Skill }) {
  const words = useFeatureStrings(skillsStrings);
  const { client } = useVitto();
  // The time of its last change: a text that was replaced is asked for again.
  const text = useQuery({
    ...skillQuery(client, skill.name),
    queryKey: [...skillQuery(client, skill.name).queryKey, skill.updatedAt],
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-1">
      <Loaded query={text}>
        {(read) => (
          <Tabs.Root defaultValue="rendered">
            <Tabs.List aria-label={skill.name} className="mb-2 flex gap-2 border-b border-line">
              <Tabs.Trigger value="rendered" className={TAB}>
                {words.rendered}
              </Tabs.Trigger>
              <Tabs.Trigger value="raw" className={TAB}>
                {words.raw}
              </Tabs.Trigger>
            </Tabs.List>
            <Tabs.Content value="rendered" className="prose max-h-[60dvh] overflow-y-auto" tabIndex={0}>
              <Markdown text={bodyOf(read.text)} />
            </Tabs.Content>
            <Tabs.Content value="raw">
              <OutputBlock text={read.text} label="SKILL.md" />
            </Tabs.Content>
          </Tabs.Root>
        )}
      </Loaded>
      {skill.files.length > 0 && (
        <>
          <p className="font-medium">{words.fileList}</p>
          <ul aria-label={words.fileList} className="mono grid grid-cols-[minmax(0,1fr)] gap-px">
            {skill.files.map((file) => (
              <li key={file.path} className="flex gap-3">
                <a
                  href={skillFileAddress(skill.name, file.path)}
                  download
                  className="min-w-0 flex-1 break-all text-accent underline underline-offset-4"
                >
                  {file.path.toWellFormed()}
                </a>
                <span className="tabular shrink-0 text-muted">{formatBytes(file.bytes)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
