import type { EventEnvelope } from '@vitto/contracts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Details } from '../../../components/details.tsx';
import { OutputBlock } from '../../../components/output-block.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { formatBytes } from '../../chat/model/format.ts';
import { taskStrings } from '../strings.ts';

/** More than this is not laid out by the page, whatever it holds; copying takes all. */
const SHOWN = 20_000;

/** The events of a step as the journal holds them. */
export function RawEvents({ events }: { events: readonly EventEnvelope[] }) {
  const strings = useFeatureStrings(taskStrings);
  return (
    <Details summary={strings.raw(events.length)}>
      <Raw events={events} />
    </Details>
  );
}

function Raw({ events }: { events: readonly EventEnvelope[] }) {
  const strings = useFeatureStrings(taskStrings);
  const text = JSON.stringify(events.length === 1 ? events[0] : events, null, 2);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 py-1">
      {text.length > SHOWN && <p className="text-muted">{strings.rawCut(formatBytes(text.length))}</p>}
      <OutputBlock text={text.slice(0, SHOWN).toWellFormed()} label={strings.raw(events.length)} />
      <CopyButton text={text} label={strings.copy} done={strings.copied} />
    </div>
  );
}
