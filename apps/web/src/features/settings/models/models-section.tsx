import { useQuery } from '@tanstack/react-query';
import { lazy, useState } from 'react';
import { settingsQuery, systemQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { Loaded, Part } from '../parts.tsx';
import { MainModels } from './main-models.tsx';
import { modelSetupQuery } from './models-api.ts';
import { ProviderCard } from './provider-card.tsx';
import { modelsStrings } from './strings.ts';

const SetupSteps = lazy(async () => ({
  default: (await import('../../setup/setup-steps.tsx')).SetupSteps,
}));

/** Which models answer, in which order, and the providers they come from. */
export function ModelsSection() {
  const words = useFeatureStrings(modelsStrings);
  const { api, client } = useVitto();
  const setup = useQuery(modelSetupQuery(client));
  const settings = useQuery(settingsQuery(api));
  return (
    <Loaded query={setup}>
      {(found) => (
        <>
          <Loaded query={settings}>{(saved) => <MainModels setup={found} settings={saved} />}</Loaded>
          {found.mayChange && <StepByStep isOpenAtFirst={found.mainModels.length === 0} />}
          <Part title={words.providers} text={found.mayChange ? words.providersText : words.mayNot}>
            <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
              {found.providers.map((provider) => (
                <ProviderCard
                  key={provider.name}
                  provider={provider}
                  ollama={provider.name === 'ollama' ? found.ollama : null}
                  mayChange={found.mayChange}
                />
              ))}
            </ul>
          </Part>
          <OtherRoles />
        </>
      )}
    </Loaded>
  );
}

/** The page that people see who have no model yet, for one more. */
function StepByStep({ isOpenAtFirst }: { isOpenAtFirst: boolean }) {
  const words = useFeatureStrings(modelsStrings);
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <Part
      title={words.stepByStep}
      text={words.stepByStepText}
      actions={
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? words.closeSteps : words.setUp}
        </Button>
      }
    >
      {isOpen && <SetupSteps onDone={() => setOpen(false)} />}
    </Part>
  );
}

/** The other roles, honest about what uses them. */
function OtherRoles() {
  const words = useFeatureStrings(modelsStrings);
  const { api } = useVitto();
  const system = useQuery(systemQuery(api));
  const roles = (system.data?.models ?? []).filter((one) => one.role !== 'main');
  return (
    <Part title={words.roles} text={words.rolesText}>
      <dl className="grid grid-cols-[minmax(0,1fr)] gap-px overflow-hidden rounded-lg border border-line bg-line empty:hidden">
        {roles.map((one) => (
          <div
            key={one.role}
            className="grid grid-cols-[minmax(0,1fr)] gap-x-4 bg-surface px-3 py-2 sm:grid-cols-[14rem_minmax(0,1fr)]"
          >
            <dt className="text-muted">{words.role[one.role]}</dt>
            <dd className="mono break-all">{one.models.length === 0 ? words.none : one.models.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}
