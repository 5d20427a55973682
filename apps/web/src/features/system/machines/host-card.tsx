import type { ImageInfo, SandboxHostInfo } from '@vitto/contracts';
import { CodeWords } from '../../../components/code-words.tsx';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage } from '../../../i18n/strings-context.tsx';
import { formatBytes } from '../../chat/model/format.ts';
import { ActFailure } from './act-failure.tsx';
import { ProgressBar } from './build-strip.tsx';
import { machineStrings, type MachineStrings } from './strings.ts';
import { useAgo } from './use-ago.ts';
import { useImageBuild } from './use-machines.ts';

const MIB = 1024 * 1024;

/**
 * A host: whether VMs can be had there, how many run, and its images.
 * @param givenMib memory that its VMs may take.
 */
export function HostCard({ host, givenMib }: { host: SandboxHostInfo; givenMib: number }) {
  const strings = useFeatureStrings(machineStrings);
  const isWell = host.isReachable && host.reason === null;
  const facts = [
    host.url ?? strings.isHere,
    [host.provider, host.version].filter(Boolean).join(' '),
    ...(host.accelerator === null ? [] : [strings.accelerators[host.accelerator]]),
    ...describeMemory(host, givenMib, strings),
  ];
  return (
    <li className="tabular grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <h3 className="font-medium [overflow-wrap:anywhere]" dir="auto">
          {host.name.toWellFormed()}
        </h3>
        <span
          className={`inline-flex items-center gap-1 font-medium ${isWell ? 'text-green' : 'text-amber'}`}
        >
          <Icon name={isWell ? 'check' : 'warning'} />
          {describeLoad(host, strings)}
        </span>
      </div>
      <p className="text-muted [overflow-wrap:anywhere]">{facts.join(' · ')}</p>
      {host.reason !== null && (
        <p className="[overflow-wrap:anywhere]" dir="auto">
          {host.reason.toWellFormed()} {host.hint !== null && <CodeWords text={host.hint.toWellFormed()} />}
        </p>
      )}
      {host.images.length > 0 && (
        <ul className="grid grid-cols-[minmax(0,1fr)] border-t border-line">
          {host.images.map((image) => (
            <ImageRow key={image.name} image={image} />
          ))}
        </ul>
      )}
    </li>
  );
}

function describeLoad(host: SandboxHostInfo, strings: MachineStrings): string {
  if (!host.isReachable) return strings.away;
  if (host.reason !== null) return strings.noVms;
  const running = strings.running(host.running, host.maxConcurrent);
  return host.waiting === 0 ? running : `${running} · ${strings.waiting(host.waiting)}`;
}

function describeMemory({ memory }: SandboxHostInfo, givenMib: number, strings: MachineStrings): string[] {
  if (memory === null) return [];
  const total = formatBytes(memory.totalBytes);
  return [
    givenMib === 0 ? strings.memoryOf(total) : strings.memoryGiven(formatBytes(givenMib * MIB), total),
    strings.memoryFree(formatBytes(memory.freeBytes)),
  ];
}

function ImageRow({ image }: { image: ImageInfo }) {
  const strings = useFeatureStrings(machineStrings);
  const language = useLanguage();
  const ago = useAgo();
  const build = useImageBuild(image.name);
  const { progress } = image;
  const toBuild = image.state === 'failed' ? strings.buildAgain : strings.build;
  const label = build.isBusy ? strings.imageStates.building : toBuild;
  const percent = progress && new Intl.NumberFormat(language, { style: 'percent' }).format(progress.fraction);
  const facts = [
    strings.imageStates[image.state],
    ...(image.bytes > 0 ? [formatBytes(image.bytes)] : []),
    ...(image.builtAt === null ? [] : [strings.built(ago(image.builtAt))]),
    ...(image.state === 'ready' && !image.hasBaseSnapshot ? [strings.noBaseSnapshot] : []),
    ...(progress === null ? [] : [`${progress.step}, ${percent}`]),
  ];
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-1.5 border-b border-line py-2 last:border-b-0 last:pb-0">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          {strings.image(image.name)} <span className="text-muted">{facts.join(' · ')}</span>
        </span>
        {(image.state === 'missing' || image.state === 'failed') && (
          <Button
            aria-label={`${label}: ${strings.image(image.name)}`}
            aria-disabled={build.isBusy}
            onClick={() => void build.run()}
          >
            {label}
          </Button>
        )}
      </div>
      {progress !== null && <ProgressBar fraction={progress.fraction} label={strings.image(image.name)} />}
      {image.problem !== null && (
        <p className="text-amber [overflow-wrap:anywhere]" dir="auto">
          <CodeWords text={image.problem.toWellFormed()} />
        </p>
      )}
      <ActFailure error={build.error} />
    </li>
  );
}
