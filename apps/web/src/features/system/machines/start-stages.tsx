import type { StartStages as Stages } from '@vitto/contracts';
import { DataTable } from '../../../components/data-table.tsx';
import { Details } from '../../../components/details.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatDuration } from '../../chat/model/format.ts';
import { machineStrings } from './strings.ts';

/** Neighbours differ in both themes; none is a colour that means something. */
const TINTS = ['bg-accent-fill', 'bg-line-strong', 'bg-muted'];

/** What the start spent its time on: a bar by stage, the table of it behind. */
export function StartStages({ stages }: { stages: Stages }) {
  const strings = useFeatureStrings(machineStrings);
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  const nameOf = (stage: string) => strings.stages[stage] ?? stage;
  const longest = stages.reduce((most, one) => (one.ms > most.ms ? one : most), stages[0] ?? NOTHING);
  const summary = `${strings.start}: ${formatDuration(total)} · ${nameOf(longest.stage)} ${formatDuration(longest.ms)}`;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <div role="img" aria-label={summary} className="flex h-2 gap-px overflow-hidden rounded-full bg-line">
        {stages.map(({ stage, ms }, index) => (
          <span
            key={`${index} ${stage}`}
            title={`${nameOf(stage)}: ${formatDuration(ms)}`}
            className={TINTS[index % TINTS.length]}
            style={{ flexGrow: ms, flexBasis: 0 }}
          />
        ))}
      </div>
      <Details summary={summary}>
        <DataTable
          label={strings.start}
          columns={[
            { key: 'stage', label: strings.stage, isName: true, cell: ({ stage }) => nameOf(stage) },
            { key: 'time', label: strings.time, isNumber: true, cell: ({ ms }) => formatDuration(ms) },
          ]}
          rows={stages}
          rowKey={({ stage }) => stage}
        />
      </Details>
    </div>
  );
}

const NOTHING = { stage: '', ms: 0 };
