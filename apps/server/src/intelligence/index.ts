/** The front door of what Vitto learns from: for now, what became of tasks. */
export {
  OutcomeFeedbackService,
  type OutcomeFeedbackDependencies,
  type OutcomeHandler,
  type OutcomeNews,
} from './outcomes/outcome-feedback-service.ts';
export { listOutcomes } from './outcomes/outcome.store.ts';
export { queueOutcome } from './outcomes/queues.ts';
