import { degradePolicy, type DegradePolicy, type Settings } from '@vitto/contracts';
import { useQuery } from '@tanstack/react-query';
import { settingsQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Select } from '../../../components/inputs.tsx';
import { Switch } from '../../../components/switch.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Loaded, Part } from '../parts.tsx';
import { useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { HostsForm } from './hosts-form.tsx';
import { machinesStrings } from './strings.ts';

/** What the user's machines may reach, and what happens when there is none. */
export function MachinesSection() {
  const words = useFeatureStrings(machinesStrings);
  const { api } = useVitto();
  const settings = useQuery(settingsQuery(api));
  return (
    <Loaded query={settings}>
      {({ network, vmDegrade }) => (
        <>
          <Part title={words.network} text={words.networkText}>
            <Registries network={network} />
            <HostsForm network={network} />
          </Part>
          <Part title={words.degrade} text={words.degradeText}>
            <Degrade saved={vmDegrade} />
          </Part>
        </>
      )}
    </Loaded>
  );
}

function Registries({ network }: { network: Settings['network'] }) {
  const words = useFeatureStrings(machinesStrings);
  const common = useFeatureStrings(settingsStrings);
  const change = useSettingsChange();
  const save = useAction((_key, packageRegistries: boolean) =>
    change({ network: { ...network, packageRegistries } }),
  );
  return (
    <>
      <Switch
        label={words.registries}
        isOn={network.packageRegistries}
        isDisabled={save.isBusy}
        onChange={(isOn) => void save.run(isOn)}
      />
      <ActionFailure title={common.notSaved} error={save.error} />
    </>
  );
}

function Degrade({ saved }: { saved: DegradePolicy | null }) {
  const words = useFeatureStrings(machinesStrings);
  const common = useFeatureStrings(settingsStrings);
  const change = useSettingsChange();
  const save = useAction((_key, vmDegrade: DegradePolicy | null) => change({ vmDegrade }));
  return (
    <div className="grid max-w-md grid-cols-[minmax(0,1fr)] gap-3">
      <Field label={words.degradeField} description={words.degradeHelp}>
        {(control) => (
          <Select
            {...control}
            value={saved ?? 'none'}
            disabled={save.isBusy}
            onChange={({ target: { value } }) =>
              void save.run(value === 'none' ? null : (value as DegradePolicy))
            }
          >
            {(['none', ...degradePolicy.options] as const).map((policy) => (
              <option key={policy} value={policy}>
                {words.policies[policy]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ActionFailure title={common.notSaved} error={save.error} />
    </div>
  );
}
