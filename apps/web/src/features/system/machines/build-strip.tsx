import type { SandboxHostInfo } from '@vitto/contracts';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { machineStrings } from './strings.ts';

/** An image that is on its way, where nobody can miss it: on the first start VMs are to be had only after it. */
export function BuildStrips({ hosts }: { hosts: readonly SandboxHostInfo[] }) {
  const strings = useFeatureStrings(machineStrings);
  const language = useLanguage();
  const builds = hosts.flatMap((host) =>
    host.images.flatMap(({ name, progress }) => (progress === null ? [] : [{ host, name, progress }])),
  );
  return builds.map(({ host, name, progress }) => {
    const percent = new Intl.NumberFormat(language, { style: 'percent' }).format(progress.fraction);
    return (
      <div
        key={`${host.id} ${name}`}
        className="tabular flex gap-2.5 rounded-lg border border-amber-line bg-amber-soft px-3 py-2"
      >
        <Icon name="warning" className="mt-0.5 text-amber" />
        <div className="grid min-w-0 flex-1 gap-1.5 [overflow-wrap:anywhere]">
          <p className="font-medium text-amber">{strings.building(name, progress.step, percent)}</p>
          <ProgressBar fraction={progress.fraction} label={strings.image(name)} />
          <p>{strings.buildingMore}</p>
        </div>
      </div>
    );
  });
}

export function ProgressBar({ fraction, label }: { fraction: number; label: string }) {
  const percent = Math.round(fraction * 100);
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="block h-1.5 overflow-hidden rounded-full bg-line"
    >
      <span
        className="block h-full rounded-full bg-accent-fill transition-[width]"
        style={{ width: `${percent}%` }}
      />
    </span>
  );
}
