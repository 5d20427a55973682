export { demoCacheOf } from './prepare-demo.ts';
export { startDemo, type DemoDependencies } from './start-demo.ts';
