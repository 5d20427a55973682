export {
  ProcessSandboxService,
  type ProcessSandboxOptions,
} from './providers/process/process-sandbox-service.ts';
export type { SandboxProbe } from './providers/process/probe.ts';
export type { SandboxLimits } from './providers/process/sandbox-limits.ts';
export { whyNotShown } from './providers/process/allowed-paths.ts';
export {
  SandboxedToolProxyService,
  type ToolProxyOptions,
} from './tool-proxy/sandboxed-tool-proxy-service.ts';
export type { HostPool } from './tool-proxy/host-pool.ts';
export { VmCredentialInjectorService } from './git/vm-credential-injector-service.ts';
export type { SandboxHost } from './host/sandbox-host.ts';
export { VmApiClientService } from './host/vm-api-client-service.ts';
export { addHostApi } from './host/http/add-host-api.ts';
export { CALL_LIMIT, signalOf, wantsStream, type HostApp } from './host/http/host-app.ts';
export { SseWriter } from './host/http/sse-writer.ts';
export { toHttpError } from './host/http/guest-problem.ts';
export { joinConnection, requireSshUpgrade } from './host/http/ssh-route.ts';
export { holdClaim, type HeldClaim } from './host/hold-claim.ts';
export { API_ROOT } from './host/http/wire.ts';
export { SandboxHosts } from './host/sandbox-hosts.ts';
export { ImageService, type ImageServiceOptions } from './images/image-service.ts';
export { BaseSnapshots, type VmSizes } from './images/base-snapshots.ts';
export { listUsedImages, registerMachines } from './images/image-users.ts';
export { pickBuildEnvironment } from './images/build-environment.ts';
export { holdFileLock } from './images/file-lock.ts';
export { findMissingForBuild, findMissingForVms } from './images/host-tools.ts';
export { LocalSandboxHost, type LocalSandboxHostOptions } from './host/local-sandbox-host.ts';
export type { ClaimEnd } from './sessions/session-types.ts';
export { NoneProvider } from './providers/none/none-provider.ts';
export type { SandboxProvider } from './providers/sandbox-provider.ts';
export { workInFolder } from './guest/work-in-folder.ts';
export { QemuProvider } from './providers/qemu/qemu-provider.ts';
