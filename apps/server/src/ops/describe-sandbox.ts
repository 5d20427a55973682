import type { ComponentStatus, ImageInfo, SandboxHostInfo } from '@vitto/contracts';
import type { SandboxProbe } from '../sandbox/index.ts';

const NAME = 'sandbox';

/** Where commands run: VMs on which hosts, from which images, and what is there instead when none can be had. */
export function describeSandbox(
  probe: SandboxProbe,
  hosts: readonly SandboxHostInfo[],
  template: string,
): ComponentStatus {
  const away = hosts.filter((host) => !host.isReachable);
  const usable = hosts.filter((host) => host.isReachable && host.reason === null);
  const image = bestImage(usable, template);
  if (usable.length === 0 || image?.state !== 'ready') {
    const why = usable.length === 0 ? whyNoHost(hosts) : describeImage(image, template);
    return withoutVms(probe, why);
  }
  const detail = `VMs of "${image.name}" on ${usable.map(describeHost).join(', ')}`;
  const lacks = [
    ...(image.name === template ? [] : [describeImage(findImage(usable, template), template)]),
    ...away.map((host) => ({
      text: `the host ${host.name} does not answer`,
      hint: 'See whether `vitto sandbox-host` runs there; docs/runbooks/sandbox-host.md says what to look at.',
    })),
  ];
  const [first] = lacks;
  if (first === undefined) return { name: NAME, state: 'ok', detail };
  const texts = lacks.map(({ text }) => text).join('; ');
  return { name: NAME, state: 'degraded', detail: `${detail}; ${texts}`, ...hintOf(first.hint) };
}

interface Lack {
  text: string;
  hint: string | null;
}

function withoutVms(probe: SandboxProbe, why: Lack): ComponentStatus {
  if (!probe.available) {
    return {
      name: NAME,
      state: 'missing',
      detail: `no VM: ${why.text}; no process sandbox either: ${probe.reason ?? 'not available'}; commands and files are off`,
      ...hintOf(why.hint ?? probe.hint),
    };
  }
  return {
    name: NAME,
    state: 'degraded',
    detail: `no VM: ${why.text}; there is the process sandbox, memory held by ${probe.memoryLimit ?? 'nothing'}`,
    ...hintOf(why.hint),
  };
}

function whyNoHost(hosts: readonly SandboxHostInfo[]): Lack {
  const [first] = hosts;
  if (first === undefined) {
    return {
      text: 'this installation has no sandbox host',
      hint: 'Give a process the role sandbox (VITTO_ROLES, VITTO_VM_PROVIDER=qemu), or VITTO_SANDBOX_URL the address of a host.',
    };
  }
  const text = first.isReachable ? (first.reason ?? '') : `the host ${first.name} does not answer`;
  return { text: withoutEnd(text), hint: first.hint };
}

/** The template's own when it is ready, else any that is, else the one that will be first, else what there is of the template. */
function bestImage(hosts: readonly SandboxHostInfo[], template: string): ImageInfo | undefined {
  const own = findImage(hosts, template);
  if (own?.state === 'ready') return own;
  const images = hosts.flatMap((host) => host.images);
  const howFar = ({ progress }: ImageInfo) => progress?.fraction ?? 0;
  const building = images.filter((image) => image.state === 'building').sort((a, b) => howFar(b) - howFar(a));
  return images.find((image) => image.state === 'ready') ?? building[0] ?? own;
}

function findImage(hosts: readonly SandboxHostInfo[], name: string): ImageInfo | undefined {
  const named = hosts.flatMap((host) => host.images).filter((image) => image.name === name);
  const inState = (state: ImageInfo['state']) => named.find((image) => image.state === state);
  return inState('ready') ?? inState('building') ?? named[0];
}

function describeImage(image: ImageInfo | undefined, template: string): Lack {
  const name = image?.name ?? template;
  const hint = `Build it: npm run vitto -- image build ${name}`;
  if (image?.state === 'building') {
    const { step = 'begun', fraction = 0 } = image.progress ?? {};
    return {
      text: `the image "${name}" is being built (${step}, ${Math.round(fraction * 100)} %)`,
      hint: null,
    };
  }
  if (image?.state === 'failed') {
    return { text: withoutEnd(`the image "${name}" could not be built: ${image.problem ?? ''}`), hint };
  }
  return { text: `the image "${name}" has not been built`, hint: image?.problem ?? hint };
}

function describeHost({ name, accelerator, running, maxConcurrent }: SandboxHostInfo): string {
  const speed = accelerator === 'kvm' ? 'KVM' : 'without KVM, slower';
  return `${name} (${[speed, ...(maxConcurrent === 0 ? [] : [`${running} of ${maxConcurrent}`])].join(', ')})`;
}

const withoutEnd = (text: string): string => text.replace(/[.:\s]+$/, '');
const hintOf = (hint: string | null | undefined) => (hint === null || hint === undefined ? {} : { hint });
