import { homedir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { degradePolicy, templateName, type DegradePolicy } from '@vitto/contracts';
import { z } from 'zod';

/** The VM tier, as the installation set it up (specification 14). */
export interface SandboxConfig {
  /** Sandbox hosts to ask over HTTP, without a slash at the end. Empty: the one of this process, when it has the role. */
  urls: readonly string[];
  /** What those hosts are shown, and what this one wants to see. `null`: this host is not served over HTTP. */
  token: string | null;
  provider: 'qemu' | 'none';
  developerTemplate: string;
  reuseActive: boolean;
  snapshotOnRelease: boolean;
  /** A claim that makes no call for so long is released. */
  maxLifetimeMs: number;
  /** A session older than this is rotated. */
  hardLifetimeMs: number;
  /** A session without claims, before it is snapshotted. */
  lingerMs: number;
  degrade: DegradePolicy;
  /** One command. */
  defaultTimeoutMs: number;
  memoryMib: number;
  cpus: number;
  diskGib: number;
  /** `null`: by this machine's memory. */
  maxConcurrent: number | null;
  snapshotMaxAgeDays: number;
  /** Folder of the built images, shared by all homes of this machine. */
  imagesFolder: string;
}

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
const MIN_TOKEN_LENGTH = 24;
const PLACEHOLDER = /change.?me|placeholder|example|your.?(secret|token)|^(.)\2+$|^(secret|token|password)/i;

const whole = z.coerce.number().int();
const flag = z.stringbool({ error: 'takes true or false' });

const hostUrl = z
  .string()
  .trim()
  .refine(isHostUrl, 'takes addresses like https://vm1.lan:4800, separated by commas, without a password');
const hostUrls = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(hostUrl.transform((url) => url.replace(/\/+$/, ''))).min(1))
  .transform((urls) => [...new Set(urls)]);

const token = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'takes visible ASCII characters without spaces')
  .min(MIN_TOKEN_LENGTH, `takes at least ${MIN_TOKEN_LENGTH} characters: openssl rand -base64 32 makes one`)
  .refine((value) => !PLACEHOLDER.test(value), 'is a placeholder: openssl rand -base64 32 makes a token');

const provider = z.enum(['qemu', 'none', 'firecracker', 'e2b']).superRefine((name, context) => {
  if (name === 'qemu' || name === 'none') return;
  context.addIssue({
    code: 'custom',
    message: `this version has no provider ${name}: take qemu (with KVM or without), or none for no VMs`,
  });
});

/** Every variable of the VM tier. */
export const SANDBOX_VARIABLES = {
  VITTO_SANDBOX_URL: hostUrls.optional(),
  VITTO_SANDBOX_TOKEN: token.optional(),
  VITTO_VM_PROVIDER: provider.transform((name) => (name === 'none' ? name : 'qemu')).default('qemu'),
  VITTO_VM_DEVELOPER_TEMPLATE: templateName.default('developer'),
  VITTO_VM_REUSE_ACTIVE: flag.default(true),
  VITTO_VM_SNAPSHOT_ON_RELEASE: flag.default(true),
  // A task renews its claim when it has made no call for a minute.
  VITTO_VM_MAX_LIFETIME_MS: whole
    .min(2 * MINUTE_MS)
    .max(WEEK_MS)
    .default(900_000),
  VITTO_VM_HARD_LIFETIME_MS: whole.min(MINUTE_MS).max(WEEK_MS).default(86_400_000),
  VITTO_VM_LINGER_MS: whole.min(0).max(86_400_000).default(60_000),
  VITTO_VM_DEGRADE: degradePolicy.default('ask'),
  VITTO_VM_DEFAULT_TIMEOUT_MS: whole.min(1_000).max(86_400_000).default(300_000),
  VITTO_VM_MEMORY_MIB: whole.min(128).max(1_048_576).default(1024),
  VITTO_VM_CPUS: whole.min(1).max(64).default(2),
  VITTO_VM_DISK_GIB: whole.min(1).max(4096).default(8),
  VITTO_VM_MAX_CONCURRENT: whole.min(1).max(1_000).optional(),
  VITTO_SNAPSHOT_MAX_AGE_DAYS: z.coerce.number().positive().max(3650).default(7),
  VITTO_IMAGES: z
    .string()
    .trim()
    .regex(/^\/[^\0]+$/, 'takes the absolute path of a folder')
    .optional(),
} as const;

const schema = z.object(SANDBOX_VARIABLES);
type SandboxVariables = z.output<typeof schema>;

export function toSandboxConfig(variables: SandboxVariables, cacheHome: string | undefined): SandboxConfig {
  return {
    urls: variables.VITTO_SANDBOX_URL ?? [],
    token: variables.VITTO_SANDBOX_TOKEN ?? null,
    provider: variables.VITTO_VM_PROVIDER,
    developerTemplate: variables.VITTO_VM_DEVELOPER_TEMPLATE,
    reuseActive: variables.VITTO_VM_REUSE_ACTIVE,
    snapshotOnRelease: variables.VITTO_VM_SNAPSHOT_ON_RELEASE,
    maxLifetimeMs: variables.VITTO_VM_MAX_LIFETIME_MS,
    hardLifetimeMs: variables.VITTO_VM_HARD_LIFETIME_MS,
    lingerMs: variables.VITTO_VM_LINGER_MS,
    degrade: variables.VITTO_VM_DEGRADE,
    defaultTimeoutMs: variables.VITTO_VM_DEFAULT_TIMEOUT_MS,
    memoryMib: variables.VITTO_VM_MEMORY_MIB,
    cpus: variables.VITTO_VM_CPUS,
    diskGib: variables.VITTO_VM_DISK_GIB,
    maxConcurrent: variables.VITTO_VM_MAX_CONCURRENT ?? null,
    snapshotMaxAgeDays: variables.VITTO_SNAPSHOT_MAX_AGE_DAYS,
    imagesFolder: variables.VITTO_IMAGES ?? defaultImagesFolder(cacheHome),
  };
}

/** What cannot be meant together, by the variable to correct. */
export function findContradictions(
  sandbox: SandboxConfig,
  roles: readonly string[],
): { path: string; message: string }[] {
  const isHostOnly = roles.every((role) => role === 'sandbox');
  const problems: [boolean, string, string][] = [
    [
      sandbox.urls.length > 0 && sandbox.token === null,
      'VITTO_SANDBOX_TOKEN',
      'is missing: the hosts of VITTO_SANDBOX_URL answer whoever shows their token; give all of them and this process the same one (openssl rand -base64 32)',
    ],
    [
      isHostOnly && sandbox.token === null,
      'VITTO_SANDBOX_TOKEN',
      'is missing: a sandbox host of its own answers over HTTP, and only whoever shows this token (openssl rand -base64 32)',
    ],
    [
      isHostOnly && sandbox.urls.length > 0,
      'VITTO_SANDBOX_URL',
      'is for servers and workers: a sandbox host of its own asks no other host; leave it out',
    ],
    [
      isHostOnly && sandbox.provider === 'none',
      'VITTO_VM_PROVIDER',
      'none leaves a sandbox host without anything to do; take qemu',
    ],
    [
      sandbox.hardLifetimeMs < sandbox.maxLifetimeMs,
      'VITTO_VM_HARD_LIFETIME_MS',
      `${sandbox.hardLifetimeMs} is less than the ${sandbox.maxLifetimeMs} of VITTO_VM_MAX_LIFETIME_MS: a session cannot end before an idle claim in it`,
    ],
    [
      sandbox.hardLifetimeMs < sandbox.lingerMs,
      'VITTO_VM_LINGER_MS',
      `${sandbox.lingerMs} is more than the ${sandbox.hardLifetimeMs} of VITTO_VM_HARD_LIFETIME_MS`,
    ],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, path, message]) => ({ path, message }));
}

function isHostUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
}

function defaultImagesFolder(cacheHome: string | undefined): string {
  if (getuid?.() === 0) return '/var/cache/vitto/images';
  return join(cacheHome ?? join(homedir(), '.cache'), 'vitto', 'images');
}
