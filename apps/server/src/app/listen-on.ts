import type { AddressInfo } from 'node:net';
import { AppError } from '../kernel/app-error.ts';
import type { WebApp } from '../channels/index.ts';

/**
 * Listens and gives the address to open.
 * @throws AppError `server.port-taken`, `server.address` with what to do.
 */
export async function listenOn(app: WebApp, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new AppError('server.port-taken', `Port ${port} on ${host} is in use.`, {
        hint: `Vitto may be running already: \`npm run vitto -- sign-in\` prints a link to it. Else choose another port: npm start -- --port ${port + 1}`,
      });
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new AppError('server.address', `Cannot listen on ${host}:${port} (${code}).`, {
        hint: 'Choose an address of this machine and a port from 1024 on (VITTO_HOST, VITTO_PORT).',
      });
    }
    throw error;
  }
  const address = app.server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}
