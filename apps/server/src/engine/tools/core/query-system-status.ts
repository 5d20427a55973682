import type { SystemStatus } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type Tool } from '../tool.ts';

/** `query_system_status`: what of this installation works, for the user whose task it is. */
export function createQuerySystemStatus(readStatus: (userId: string) => Promise<SystemStatus>): Tool {
  return defineTool({
    name: 'query_system_status',
    description:
      'Look at the state of this Vitto installation: database, queue, workers, sandbox, models, and how many tasks the user has in which state.',
    input: z.object({}),
    domain: 'system',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: 10_000,
    run: async (_, context) => {
      const status = await readStatus(context.task.userId);
      const lines = [
        `Vitto ${status.version}, roles ${status.roles.join(', ')}, up since ${status.startedAt}`,
        ...status.components.map((part) => `- ${part.name}: ${part.state} (${part.detail})`),
        ...status.models.map((model) => `- model for ${model.role}: ${model.models.join(', ') || 'none'}`),
        `- tasks: ${
          Object.entries(status.tasks)
            .map(([state, count]) => `${count} ${state}`)
            .join(', ') || 'none'
        }`,
      ];
      return { status: 'ok', text: lines.join('\n'), data: status };
    },
  });
}
