export { describeModels } from './describe-components.ts';
export { describeSandbox } from './describe-sandbox.ts';
export { readCosts } from './read-costs.ts';
export { readSystemStatus, type StatusSources } from './read-system-status.ts';
