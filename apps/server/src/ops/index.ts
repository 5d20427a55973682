export { describeModels, describeSandbox } from './describe-components.ts';
export { readCosts } from './read-costs.ts';
export { readSystemStatus, type StatusSources } from './read-system-status.ts';
