import type { AutonomyContext, CallToDecide, Decision } from '@vitto/contracts';

/**
 * The decision until trust is measured: everything acts but what cannot be undone, which asks. The context is not
 * looked at yet.
 */
export function decideByRisk(call: CallToDecide, _context: AutonomyContext): Decision {
  if (call.risk === 'irreversible') return { verdict: 'ask', reason: `${call.tool} cannot be undone` };
  return { verdict: 'act', reason: call.risk === 'read' ? 'reading changes nothing' : 'can be undone' };
}
