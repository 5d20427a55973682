export { assembleContext } from './assemble-context.ts';
export { decideByRisk } from './decide-by-risk.ts';
