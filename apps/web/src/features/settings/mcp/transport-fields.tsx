import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { Caution } from '../parts.tsx';
import { ArgumentLines, PairLines } from './line-fields.tsx';
import { mcpStrings } from './strings.ts';
import type { TransportDraft } from './transport-draft.ts';

interface TransportFieldsProps {
  draft: TransportDraft;
  isOwner: boolean;
  bad: 'url' | 'command' | null;
  onChange: (draft: TransportDraft) => void;
}

/** How a server is reached. Arguments are fields of their own: nothing here becomes a line of a shell. */
export function TransportFields({ draft, isOwner, bad, onChange }: TransportFieldsProps) {
  const words = useFeatureStrings(mcpStrings);
  const set = (part: Partial<TransportDraft>) => onChange({ ...draft, ...part });
  if (draft.kind === 'http') {
    return (
      <>
        <Field label={words.url} description={words.urlHelp} error={bad === 'url' ? words.urlBad : null}>
          {(control) => (
            <TextInput
              {...control}
              isExact
              inputMode="url"
              value={draft.url}
              onChange={(event) => set({ url: event.target.value })}
            />
          )}
        </Field>
        <PairLines
          title={words.headers}
          nameLabel={words.headerName}
          namePlaceholder="authorization"
          valuePlaceholder="Bearer {{secret:NAME}}"
          pairs={draft.headers}
          onChange={(headers) => set({ headers })}
        />
      </>
    );
  }
  return (
    <>
      <Caution>{isOwner ? words.stdioWarning : words.stdioOwner}</Caution>
      <Field
        label={words.command}
        description={words.commandHelp}
        error={bad === 'command' ? words.commandBad : null}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            value={draft.command}
            onChange={(event) => set({ command: event.target.value })}
          />
        )}
      </Field>
      <ArgumentLines args={draft.args} onChange={(args) => set({ args })} />
      <PairLines
        title={words.env}
        nameLabel={words.envName}
        namePlaceholder="API_KEY"
        valuePlaceholder="{{secret:NAME}}"
        pairs={draft.env}
        onChange={(env) => set({ env })}
      />
    </>
  );
}
