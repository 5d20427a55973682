import { lazy, type ComponentType } from 'react';
import type { SectionId } from './strings.ts';

/**
 * The parts of the settings in the order of the list. A new one is a line here, its words in `strings.ts`, and a file
 * that is loaded when it is opened; it comes when it works.
 */
export const SECTIONS: readonly { id: SectionId; Component: ComponentType }[] = [
  section('models', async () => (await import('./models/models-section.tsx')).ModelsSection),
  section('budgets', async () => (await import('./budgets/budgets-section.tsx')).BudgetsSection),
  section('general', async () => (await import('./general/general-section.tsx')).GeneralSection),
  section('machines', async () => (await import('./machines/machines-section.tsx')).MachinesSection),
  section('mcp', async () => (await import('./mcp/mcp-section.tsx')).McpSection),
  section('skills', async () => (await import('./skills/skills-section.tsx')).SkillsSection),
  section('secrets', async () => (await import('./secrets/secrets-section.tsx')).SecretsSection),
  section('tokens', async () => (await import('./tokens/tokens-section.tsx')).TokensSection),
  section('webhooks', async () => (await import('./webhooks/webhooks-section.tsx')).WebhooksSection),
  section(
    'notifications',
    async () => (await import('./notifications/notifications-section.tsx')).NotificationsSection,
  ),
];

function section(id: SectionId, load: () => Promise<ComponentType>) {
  return { id, Component: lazy(async () => ({ default: await load() })) };
}
