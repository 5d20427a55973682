import { Details } from '../../../components/details.tsx';
import { OutputBlock } from '../../../components/output-block.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';

/** An event that has no card of its own (yet): its type, and everything in it. */
export function RawEvent({ type, payload }: { type: string; payload: unknown }) {
  const strings = useStrings();
  return (
    <Details
      name="raw"
      summary={<span className="mono">{`${strings.notice.raw} ${type}`.toWellFormed()}</span>}
    >
      <OutputBlock
        text={JSON.stringify(payload, null, 2).toWellFormed()}
        label={`${strings.notice.raw} ${type}`}
      />
    </Details>
  );
}
