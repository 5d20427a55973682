import type { AddressInfo } from 'node:net';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { VmApiClientService, type HostApp } from '../../sandbox/index.ts';
import { describeSandboxHost, type HostUnderTest } from '../../sandbox/host/sandbox-host.contract.ts';
import { openTestHost } from '../../sandbox/host/testing-local-host.ts';
import { createSandboxServer } from './create-sandbox-server.ts';

const TOKEN = 'q9ZrT4vN1xK8sLw2Yb7HdE5u';

function localHost(): HostUnderTest {
  let database: Database;
  const closes: (() => Promise<void>)[] = [];
  return {
    open: async () => {
      const test = await createTestDatabase();
      ({ database } = test);
      const { host, close } = await openTestHost(database);
      closes.push(close, test.drop);
      return host;
    },
    addUser: async () => {
      const id = newId();
      await database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ana', 'member')", [
        id,
      ]);
      return id;
    },
    close: async () => {
      for (const close of closes) await close();
    },
  };
}

function hostOverHttp(): HostUnderTest {
  const local = localHost();
  let app: HostApp;
  let client: VmApiClientService;
  return {
    ...local,
    open: async () => {
      const host = await local.open();
      app = await createSandboxServer({ host, token: TOKEN, database: {} as Database, logger: silentLogger });
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as AddressInfo;
      client = new VmApiClientService({ url: `http://127.0.0.1:${port}`, token: TOKEN });
      return client;
    },
    close: async () => {
      await client.close();
      await app.close();
      await local.close();
    },
  };
}

describeSandboxHost('the host of this process', localHost());
describeSandboxHost('a host over HTTP', hostOverHttp());
