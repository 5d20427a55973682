import { actionDomain, risk, type ActionDomain, type Risk } from '@vitto/contracts';
import { Field } from '../../../components/field.tsx';
import { Select } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { mcpStrings } from './strings.ts';

interface KindFieldsProps {
  domain: ActionDomain;
  risk: Risk;
  onDomain: (domain: ActionDomain) => void;
  onRisk: (risk: Risk) => void;
}

/** What the tools of a server are taken for; the person says so, not the server. */
export function KindFields(props: KindFieldsProps) {
  const words = useFeatureStrings(mcpStrings);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
      <Field label={words.domain} description={words.domainHelp}>
        {(control) => (
          <Select
            {...control}
            value={props.domain}
            onChange={(event) => props.onDomain(event.target.value as ActionDomain)}
          >
            {actionDomain.options.map((one) => (
              <option key={one} value={one}>
                {words.domains[one]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={words.risk} description={words.riskHelp}>
        {(control) => (
          <Select
            {...control}
            value={props.risk}
            onChange={(event) => props.onRisk(event.target.value as Risk)}
          >
            {risk.options.map((one) => (
              <option key={one} value={one}>
                {words.risks[one]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}
