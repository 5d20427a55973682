import { useQueryClient } from '@tanstack/react-query';
import { SESSION_KEY } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { CodeWords } from '../components/code-words.tsx';
import { useStrings } from '../i18n/strings-context.tsx';

/** The session has ended while the page was open: what to do, and the page stays as it is. */
export function SessionStrip() {
  const strings = useStrings();
  const queries = useQueryClient();
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-amber-line bg-amber-soft px-4 py-2"
    >
      <p className="min-w-0 flex-1 basis-72">
        <strong className="font-semibold text-amber">{strings.session.ended}</strong>{' '}
        <CodeWords text={strings.session.endedHint} />
      </p>
      <Button onClick={() => void queries.invalidateQueries({ queryKey: SESSION_KEY })}>
        {strings.session.check}
      </Button>
    </div>
  );
}
