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
export { NO_HOSTS } from './tool-proxy/no-hosts.ts';
export type { SandboxHost } from './host/sandbox-host.ts';
export { VmApiClientService } from './host/vm-api-client-service.ts';
export { addHostApi } from './host/http/add-host-api.ts';
export { CALL_LIMIT, type HostApp } from './host/http/host-app.ts';
export { API_ROOT } from './host/http/wire.ts';
export { SandboxHosts } from './host/sandbox-hosts.ts';
