export {
  ProcessSandboxService,
  type ProcessSandboxOptions,
} from './providers/process/process-sandbox-service.ts';
export type { SandboxProbe } from './providers/process/probe.ts';
export type { SandboxLimits } from './providers/process/sandbox-limits.ts';
export { whyNotShown } from './providers/process/allowed-paths.ts';
