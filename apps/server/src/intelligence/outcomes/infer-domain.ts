import type { ActionDomain } from '@vitto/contracts';

/** A tool that a task has run at least once. */
export interface RanTool {
  tool: string;
  /** As the journal says: an outcome is of the domain that the tool had then. */
  domain: string;
  /** At least one of its calls did what it was called for. */
  hasWorked: boolean;
}

/** Specification 03, "After each one": what can do most harm first. */
const RISKIEST_FIRST: readonly ActionDomain[] = [
  'messaging',
  'deployment',
  'code_execution',
  'delegation',
  'web_search',
  'knowledge',
  'system',
];

/**
 * The domain that a task's outcome is booked on: of the riskiest tool it used, `system` when it used none. A success is
 * owed to what worked: nobody earns trust in sending messages by a message that was not sent. A failure counts where
 * it was tried.
 */
export function inferDomain(tools: readonly RanTool[], success: boolean): ActionDomain {
  const counted = tools.filter((one) => !success || one.hasWorked).map((one) => one.domain);
  return RISKIEST_FIRST.find((domain) => counted.includes(domain)) ?? 'system';
}
