import { Link } from '@tanstack/react-router';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { costsStrings } from './strings.ts';

export function NothingUsed() {
  const strings = useFeatureStrings(costsStrings);
  return (
    <div className="grid justify-items-center gap-2 py-10 text-center" role="status">
      <p className="text-base font-semibold">{strings.emptyTitle}</p>
      <p className="max-w-md text-balance text-muted">{strings.emptyHint}</p>
      <Link to="/vitto" className="text-accent underline underline-offset-2">
        {strings.emptyAction}
      </Link>
    </div>
  );
}
