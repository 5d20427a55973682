import type { NewApproval } from '../../../engine/journal/approval.store.ts';
import { insertApprovals } from '../../../engine/journal/approval.store.ts';
import { openArtifacts } from '../../../engine/journal/artifact.store.ts';
import { insertConversation } from '../../../engine/journal/conversation.store.ts';
import { insertMcpServer } from '../../../extensions/mcp/mcp-server.store.ts';
import { insertDeployKey } from '../../../identity/deploy-keys/deploy-key.store.ts';
import { createApiToken } from '../../../identity/index.ts';
import { putPushSubscription } from '../../../notices/push-subscription.store.ts';
import { insertWebhook } from '../../../notices/webhook.store.ts';
import { newId } from '../../../kernel/ids.ts';
import type { FakeSandboxHost } from '../../../sandbox/host/testing-fake-host.ts';
import type { HttpTestbed } from './http-testbed.ts';

/** One of each thing that has an id, all of one user. */
export interface SeededIds {
  conversation: string;
  task: string;
  approval: string;
  artifact: string;
  token: string;
  webhook: string;
  delivery: string;
  'push-subscription': string;
  'mcp-server': string;
  sandbox: string;
  'deploy-key': string;
}

/** `host`: the one that the server asks. */
export async function seedOneOfEach(
  bed: HttpTestbed,
  userId: string,
  host: FakeSandboxHost,
): Promise<SeededIds> {
  const conversation = newId();
  await insertConversation(bed.database.pool, {
    id: conversation,
    userId,
    title: 'seeded',
    allowedPaths: [],
  });
  const task = await bed.createTask(userId, conversation);
  const approval = await seedApproval(bed, userId, task);
  const artifacts = openArtifacts(bed.database.pool, { userId, taskId: task });
  const artifact = (await artifacts.save('a.txt', 'text/plain', 'hello')).id;
  const token = (await createApiToken(bed.database, userId, { name: 'seeded' })).id;
  return {
    conversation,
    task,
    approval,
    artifact,
    token,
    ...(await seedNotices(bed, userId)),
    'mcp-server': await seedMcpServer(bed, userId),
    sandbox: await seedSandbox(host, userId, task),
    'deploy-key': await seedDeployKey(bed, userId),
  };
}

async function seedDeployKey(bed: HttpTestbed, userId: string): Promise<string> {
  const id = newId();
  await insertDeployKey(bed.database.pool, userId, {
    id,
    repository: 'ssh://git@seeded.test/~/a',
    publicKey: 'ssh-ed25519 AAAA vitto',
    hostKeys: [],
    keyId: 'none',
    sealed: Buffer.alloc(0),
  });
  return id;
}

async function seedNotices(bed: HttpTestbed, userId: string) {
  const { pool } = bed.database;
  const sealed = { keyId: 'none', sealed: Buffer.alloc(0) };
  const webhook = newId();
  const given = { url: 'https://receiver.test', description: '', events: [], secret: sealed };
  await insertWebhook(pool, userId, { ...given, id: webhook });
  const delivery = newId();
  await pool.query(
    `insert into vitto_webhook_deliveries (id, webhook_id, user_id, position, event, body, state)
     values ($1, $2, $3, 1, 'task.completed', '{}', 'failed')`,
    [delivery, webhook, userId],
  );
  const browser = {
    id: newId(),
    endpoint: `https://push.test/${userId}`,
    browser: 'a browser',
    keys: sealed,
  };
  await putPushSubscription(pool, userId, browser);
  return { webhook, delivery, 'push-subscription': browser.id };
}

async function seedSandbox(host: FakeSandboxHost, userId: string, taskId: string): Promise<string> {
  const network = { packageRegistries: true, hosts: [] };
  return (await host.acquire({ taskId, userId, template: 'minimal', fence: 1, network })).sandboxId;
}

async function seedMcpServer(bed: HttpTestbed, userId: string): Promise<string> {
  const server = {
    id: newId(),
    userId,
    name: 'seeded',
    transport: { kind: 'http' as const, url: 'http://127.0.0.1:9/mcp', headers: {} },
    domain: 'knowledge' as const,
    risk: 'write' as const,
  };
  return (await insertMcpServer(bed.database.pool, server)).id;
}

export async function seedApproval(
  bed: HttpTestbed,
  userId: string,
  taskId: string,
  change: Partial<NewApproval> = {},
): Promise<string> {
  const id = newId();
  await insertApprovals(bed.database.pool, [
    {
      id,
      taskId,
      userId,
      callId: `call-${id}`,
      tool: 'run_command',
      arguments: { command: 'rm', args: ['-r', 'x'] },
      argumentsHash: 'hash',
      reason: 'it deletes',
      risk: 'irreversible',
      domain: 'code_execution',
      expiresAt: new Date(Date.now() + 3_600_000),
      ...change,
    },
  ]);
  return id;
}
