import type { ModelSettings, SubVittoLimits } from '../engine/index.ts';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import type { Budget } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';
import { pickBuildEnvironment } from '../sandbox/index.ts';
import {
  findContradictions,
  SANDBOX_VARIABLES,
  toSandboxConfig,
  type SandboxConfig,
} from './sandbox-config.ts';
import { SUB_VITTO_VARIABLES, toSubVittoLimits } from './sub-vitto-config.ts';

export const ROLES = ['server', 'worker', 'sandbox'] as const;
export type Role = (typeof ROLES)[number];

/** The installation's configuration, read once at start. */
export interface Config {
  home: string;
  host: string;
  port: number;
  /** `null`: a local PostgreSQL under the home is supervised. */
  databaseUrl: string | null;
  roles: readonly Role[];
  /** The path of a file or the key in base64, as it was given; `null`: the home's own key. */
  masterKey: string | null;
  models: ModelSettings;
  /** The user's own prices, by `provider/model`, in US dollars a million tokens. */
  prices: Record<string, { input: number; cachedInput: number; cacheWrite: number; output: number } | null>;
  rootBudget: Budget;
  dailyCostUsd: number | null;
  trustStartScore: number;
  workerConcurrency: number;
  subVittos: SubVittoLimits;
  sandbox: SandboxConfig;
  /** What programs that build images get of this process's environment. */
  buildEnvironment: Readonly<Record<string, string>>;
  logLevel: string;
  /** Values that must never be shown anywhere. */
  secrets: string[];
}

const text = z.string().trim().min(1);
const whole = z.coerce.number().int();
const optional = <T extends z.ZodType>(schema: T) => schema.optional();
const role = z.enum(ROLES);
const rate = z.number().nonnegative();

/** Every variable with the prefix that is understood. Anything else with it is refused at start. */
const VARIABLES = {
  VITTO_HOME: optional(text),
  VITTO_HOST: text.default('127.0.0.1'),
  VITTO_PORT: whole.min(0).max(65_535).default(4800),
  VITTO_ROLES: optional(
    text.transform((list) => list.split(',').map((name) => name.trim())).pipe(z.array(role).min(1)),
  ),
  VITTO_MASTER_KEY: optional(text),
  VITTO_MODEL: optional(text),
  VITTO_MODEL_FAST: optional(text),
  VITTO_MODEL_SUBVITTO: optional(text),
  VITTO_MODEL_EMBEDDING: optional(text),
  VITTO_MODEL_PRICES: optional(text),
  VITTO_COMPATIBLE_URL: optional(z.url({ protocol: /^https?$/ })),
  VITTO_COMPATIBLE_API_KEY: optional(text),
  VITTO_TRUST_DEFAULT_SCORE: whole.min(0).max(100).default(25),
  VITTO_TASK_MAX_ITERATIONS: whole.min(1).max(10_000).default(50),
  VITTO_TASK_MAX_TOKENS: whole.min(1_000).default(500_000),
  VITTO_TASK_MAX_COST_USD: optional(z.coerce.number().positive()),
  VITTO_DAILY_COST_USD: optional(z.coerce.number().positive()),
  VITTO_WORKER_CONCURRENCY: whole.min(1).max(1_000).default(10),
  ...SUB_VITTO_VARIABLES,
  ...SANDBOX_VARIABLES,
  VITTO_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
} as const;

/** Variables with the prefix that belong to the command line and to tests, not to the server. */
const OTHERS = new Set(['VITTO_URL', 'VITTO_TOKEN', 'VITTO_TEST_DATABASE_URL', 'VITTO_KEEP_TEST_DATABASES']);

/** Variables of providers, by their usual names. */
const PROVIDER_VARIABLES = {
  DATABASE_URL: optional(text),
  ANTHROPIC_API_KEY: optional(text),
  ANTHROPIC_BASE_URL: optional(text),
  OPENAI_API_KEY: optional(text),
  OPENAI_BASE_URL: optional(text),
  GOOGLE_GENERATIVE_AI_API_KEY: optional(text),
  GEMINI_API_KEY: optional(text),
  OPENROUTER_API_KEY: optional(text),
  OLLAMA_HOST: optional(text),
  // Known, so that its value is masked; the sandbox of this provider is not in this version.
  E2B_API_KEY: optional(text),
  XDG_CACHE_HOME: optional(text),
} as const;

const schema = z.object({ ...VARIABLES, ...PROVIDER_VARIABLES });
type Variables = z.output<typeof schema>;

/**
 * Reads the environment and, for what it leaves open, `vitto.config.yaml` in the home (the same names).
 * @throws AppError `config.invalid` naming each variable at fault, what it got and what it takes.
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const home = resolveHome(environment['VITTO_HOME']);
  const merged = { ...readConfigFile(join(home, 'vitto.config.yaml')), ...withoutEmpty(environment) };
  const unknown = Object.keys(merged).filter((name) => isUnknown(name));
  const parsed = schema.safeParse(merged);
  const problems = [
    ...unknown.map((name) => ({ path: name, message: `is not a variable of Vitto${didYouMean(name)}` })),
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => toProblem(issue, merged))),
  ];
  if (!parsed.success || problems.length > 0) throw invalid(problems);
  return toConfig(parsed.data, home, environment);
}

function toConfig(
  variables: Variables,
  home: string,
  environment: Record<string, string | undefined>,
): Config {
  // Whoever names other hosts means those; the role is played here too when it is asked for.
  const usual =
    variables.VITTO_SANDBOX_URL === undefined ? ROLES : ROLES.filter((name) => name !== 'sandbox');
  const roles = [...new Set(variables.VITTO_ROLES ?? usual)];
  const sandbox = toSandboxConfig(variables, variables.XDG_CACHE_HOME);
  const contradictions = findContradictions(sandbox, roles);
  if (contradictions.length > 0) throw invalid(contradictions);
  const { VITTO_DAILY_COST_USD: daily, VITTO_TASK_MAX_COST_USD: maxCost } = variables;
  return {
    home,
    host: variables.VITTO_HOST,
    port: variables.VITTO_PORT,
    databaseUrl: variables.DATABASE_URL ?? null,
    roles,
    masterKey: variables.VITTO_MASTER_KEY ?? null,
    models: toModelSettings(variables),
    prices: variables.VITTO_MODEL_PRICES === undefined ? {} : readPrices(variables.VITTO_MODEL_PRICES),
    rootBudget: {
      maxIterations: variables.VITTO_TASK_MAX_ITERATIONS,
      maxTokens: variables.VITTO_TASK_MAX_TOKENS,
      maxCostUsd: maxCost ?? null,
      maxDurationMs: null,
    },
    dailyCostUsd: daily ?? null,
    trustStartScore: variables.VITTO_TRUST_DEFAULT_SCORE,
    workerConcurrency: variables.VITTO_WORKER_CONCURRENCY,
    subVittos: toSubVittoLimits(variables),
    sandbox,
    buildEnvironment: pickBuildEnvironment(environment),
    logLevel: variables.VITTO_LOG_LEVEL,
    secrets: listSecrets(variables),
  };
}

function toModelSettings(variables: Variables): ModelSettings {
  const google = variables.GOOGLE_GENERATIVE_AI_API_KEY ?? variables.GEMINI_API_KEY;
  return {
    models: compact({
      main: variables.VITTO_MODEL,
      fast: variables.VITTO_MODEL_FAST,
      subvitto: variables.VITTO_MODEL_SUBVITTO,
      embedding: variables.VITTO_MODEL_EMBEDDING,
    }),
    providers: {
      anthropic: compact({ apiKey: variables.ANTHROPIC_API_KEY, baseUrl: variables.ANTHROPIC_BASE_URL }),
      openai: compact({ apiKey: variables.OPENAI_API_KEY, baseUrl: variables.OPENAI_BASE_URL }),
      google: compact({ apiKey: google }),
      openrouter: compact({ apiKey: variables.OPENROUTER_API_KEY }),
      ollama: compact({ baseUrl: toUrl(variables.OLLAMA_HOST) }),
      compatible: compact({
        baseUrl: variables.VITTO_COMPATIBLE_URL,
        apiKey: variables.VITTO_COMPATIBLE_API_KEY,
      }),
    },
  };
}

const prices = z.record(
  z.string(),
  z
    .strictObject({ input: rate, output: rate, cachedInput: rate.optional(), cacheWrite: rate.optional() })
    .transform((price) => ({
      input: price.input,
      output: price.output,
      cachedInput: price.cachedInput ?? price.input,
      cacheWrite: price.cacheWrite ?? price.input,
    }))
    .nullable(),
);

function readPrices(file: string): Config['prices'] {
  try {
    return prices.parse(parseYaml(readFileSync(file, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw invalid([{ path: 'VITTO_MODEL_PRICES', message: `${file} is not a list of prices: ${why}` }]);
  }
}

function resolveHome(given: string | undefined): string {
  if (given === undefined || given.trim() === '') return join(homedir(), '.vitto');
  return isAbsolute(given) ? given : resolve(given);
}

function readConfigFile(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  let content: unknown;
  try {
    content = parseYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    throw invalid([{ path: file, message: `is not valid YAML: ${(error as Error).message}` }]);
  }
  const parsed = z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .nullable()
    .safeParse(content);
  if (!parsed.success) throw invalid([{ path: file, message: 'must be a list of VARIABLE: value' }]);
  return Object.fromEntries(Object.entries(parsed.data ?? {}).map(([name, value]) => [name, String(value)]));
}

function isUnknown(name: string): boolean {
  return name.startsWith('VITTO_') && !Object.hasOwn(VARIABLES, name) && !OTHERS.has(name);
}

function didYouMean(name: string): string {
  const near = Object.keys(VARIABLES).find(
    (known) =>
      known.startsWith(name) ||
      name.startsWith(known) ||
      known.replaceAll('_', '') === name.replaceAll('_', ''),
  );
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function toProblem(
  issue: z.core.$ZodIssue,
  given: Record<string, string>,
): { path: string; message: string } {
  const name = String(issue.path[0] ?? '');
  const value = given[name];
  const isSecret = /_KEY$|_TOKEN$|DATABASE_URL/.test(name);
  const got = value === undefined || isSecret ? '' : ` (got ${JSON.stringify(value.slice(0, 100))})`;
  return { path: name, message: `${issue.message}${got}` };
}

function invalid(problems: { path: string; message: string }[]): AppError {
  const lines = problems.map(({ path, message }) => `  ${path}: ${message}`).join('\n');
  return new AppError('config.invalid', `The configuration is wrong:\n${lines}`, {
    hint: 'Correct the variables named above and start again.',
    errors: problems,
  });
}

/** OLLAMA_HOST may be a bare host, with or without its port. */
function toUrl(host: string | undefined): string | undefined {
  if (host === undefined || /^https?:\/\//.test(host)) return host;
  return /:\d+$/.test(host) ? `http://${host}` : `http://${host}:11434`;
}

function listSecrets(variables: Variables): string[] {
  const keys = Object.entries(variables)
    // The master key may be a path; the vault masks the key itself.
    .filter(([name]) => /_KEY$|_TOKEN$/.test(name) && name !== 'VITTO_MASTER_KEY')
    .map(([, value]) => value);
  const password = variables.DATABASE_URL === undefined ? '' : passwordOf(variables.DATABASE_URL);
  return [...keys, password].filter(
    (value): value is string => typeof value === 'string' && value.length >= 8,
  );
}

function passwordOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url).password);
  } catch {
    return '';
  }
}

function withoutEmpty(environment: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => (entry[1] ?? '').trim() !== ''),
  );
}

type Compact<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Compact<T>;
}
