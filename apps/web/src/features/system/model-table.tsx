import type { ModelStatus } from '@vitto/contracts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { systemStrings } from './strings.ts';

/** Which models do what; a scripted one is labelled. */
export function ModelTable({ models }: { models: readonly ModelStatus[] }) {
  const strings = useFeatureStrings(systemStrings);
  const columns: Column<ModelStatus>[] = [
    { key: 'role', label: strings.role, isName: true, cell: (model) => model.role },
    {
      key: 'model',
      label: strings.model,
      cell: (model) => (
        <span className="[overflow-wrap:anywhere]">
          {model.models.length === 0 ? strings.none : model.models.join(', ')}
          {model.scripted && (
            <span className="ms-2 rounded-full border border-line px-2 text-muted">{strings.scripted}</span>
          )}
        </span>
      ),
    },
  ];
  return (
    <Section title={strings.models}>
      <DataTable label={strings.models} columns={columns} rows={models} rowKey={(model) => model.role} />
    </Section>
  );
}
