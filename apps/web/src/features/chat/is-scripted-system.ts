import type { SystemStatus } from '@vitto/contracts';

export function isScriptedSystem(system: SystemStatus): boolean {
  return system.models.some((one) => one.role === 'main' && one.scripted);
}
