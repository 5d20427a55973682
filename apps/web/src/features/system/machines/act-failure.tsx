import type { ApiError } from '../../../api/api-error.ts';
import { FailureNote } from '../../../components/failure-note.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { machineStrings } from './strings.ts';

/** What an act was refused with, where it was asked for. */
export function ActFailure({ error }: { error: ApiError | null }) {
  const strings = useFeatureStrings(machineStrings);
  return error === null ? null : <FailureNote title={strings.actFailed} error={error} />;
}
