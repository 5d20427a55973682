export {
  describeModels,
  describeSandbox,
  readSystemStatus,
  type StatusSources,
} from './read-system-status.ts';
