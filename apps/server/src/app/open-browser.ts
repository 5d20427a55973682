import { spawn } from 'node:child_process';

/** Opens an address in the person's browser where there is a desktop; does nothing where there is none. */
export function openBrowser(url: string, environment: Record<string, string | undefined>): boolean {
  const isMac = process.platform === 'darwin';
  const hasDesktop = isMac || Boolean(environment['DISPLAY'] ?? environment['WAYLAND_DISPLAY']);
  if (!hasDesktop || environment['CI'] !== undefined || !process.stdout.isTTY) return false;
  const child = spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
  return true;
}
