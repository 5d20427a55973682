import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { auditStrings } from './strings.ts';

export function AuditPage() {
  const strings = useFeatureStrings(auditStrings);
  return <Page title={strings.title}>{null}</Page>;
}
