import { Link } from '@tanstack/react-router';
import { Button } from '../components/button.tsx';
import { useStrings } from '../i18n/strings-context.tsx';

export function MissingPage() {
  const strings = useStrings();
  return (
    <main className="mx-auto grid min-h-full max-w-md content-center gap-3 p-6">
      <h1 className="text-lg font-semibold">{strings.app.notFound}</h1>
      <Link to="/vitto" className="text-accent underline underline-offset-4">
        {strings.app.goHome}
      </Link>
    </main>
  );
}

/** A defect of this page. What was typed is in the tab's own storage, the rest on the server. */
export function CrashedPage() {
  const strings = useStrings();
  return (
    <main
      role="alert"
      className="mx-auto grid min-h-full max-w-md content-center justify-items-start gap-3 p-6"
    >
      <h1 className="text-lg font-semibold">{strings.app.crashed}</h1>
      <p className="text-muted">{strings.app.crashedHint}</p>
      <Button look="primary" onClick={() => window.location.reload()}>
        {strings.app.reload}
      </Button>
    </main>
  );
}
