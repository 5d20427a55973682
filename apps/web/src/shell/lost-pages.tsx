import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Button } from '../components/button.tsx';
import { CodeWords } from '../components/code-words.tsx';
import { useFeatureStrings } from '../i18n/define-strings.ts';
import { useStrings } from '../i18n/strings-context.tsx';
import { shellStrings } from './strings.ts';

const FRAME = 'mx-auto grid min-h-0 w-full max-w-md flex-1 content-center justify-items-start gap-3 p-6';

export function MissingPage() {
  const strings = useStrings();
  useTitle(strings.app.notFound);
  return (
    <main id="content" className={FRAME}>
      <h1 className="text-lg font-semibold">{strings.app.notFound}</h1>
      <Link to="/vitto" className="text-accent underline underline-offset-4">
        {strings.app.goHome}
      </Link>
    </main>
  );
}

/**
 * A defect of this page, or a part of it that could not be loaded: files of an older version are gone after an upgrade,
 * and one reload, which the router has tried already, gets the new ones. What was typed is in the tab's own storage.
 */
export function CrashedPage({ error }: { error: unknown }) {
  const strings = useStrings();
  const words = useFeatureStrings(shellStrings);
  const router = useRouter();
  const isMissing = isMissingPart(error);
  useTitle(isMissing ? words.newVersion : strings.app.crashed);
  return (
    <main id="content" role="alert" className={FRAME}>
      <h1 className="text-lg font-semibold">{isMissing ? words.newVersion : strings.app.crashed}</h1>
      <p className="text-muted">
        <CodeWords text={isMissing ? words.newVersionHint : strings.app.crashedHint} />
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={() => window.location.reload()}>
          {strings.app.reload}
        </Button>
        {!isMissing && <Button onClick={() => void router.invalidate()}>{strings.app.retry}</Button>}
      </div>
    </main>
  );
}

/** How browsers say that a module's file is not to be had. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module script failed|error loading dynamically/iu.test(
      error.message,
    )
  );
}

function useTitle(title: string): void {
  const strings = useStrings();
  useEffect(() => {
    document.title = `${title} · ${strings.app.name}`;
  }, [title, strings]);
}
