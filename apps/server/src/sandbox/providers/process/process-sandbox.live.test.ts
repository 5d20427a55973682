import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { describeGuestSession } from '../../guest/guest-session.contract.ts';
import { ProcessSandboxService } from './process-sandbox-service.ts';

const root = mkdtempSync('/var/tmp/vitto-sandbox-test-');
const service = new ProcessSandboxService({ root: join(root, 'sandboxes') });

beforeAll(() => chmod(root, 0o711));
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true, force: true });
});

describeGuestSession('the process sandbox', {
  open: () => service.open({ taskId: 'contract', readOnlyPaths: [] }),
  close: () => service.close('contract'),
});
