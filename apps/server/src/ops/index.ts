export { describeModels, describeSandbox } from './describe-components.ts';
export { readSystemStatus, type StatusSources } from './read-system-status.ts';
