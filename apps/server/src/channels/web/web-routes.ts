import type { RunDependencies } from '../../runs/index.ts';
import { addApprovalRoutes } from './approval-routes.ts';
import { addArtifactRoutes } from './artifact-routes.ts';
import { addAttachmentRoute } from './attachment-route.ts';
import { addConversationRoutes } from './conversation-routes.ts';
import { addDemoRoute, type StartDemo } from './demo-route.ts';
import { addMessageRoutes } from './message-routes.ts';
import { addSearchRoute } from './search-route.ts';
import { addTaskRoutes } from './task-routes.ts';
import { addTaskStepRoute } from './task-step-route.ts';
import type { WebApp } from './web-app.ts';

/** The routes by which people talk to Vitto: each checks its input, calls the runs, and shapes the answer. */
export function addWebRoutes(app: WebApp, runs: RunDependencies, startDemo: StartDemo): void {
  addConversationRoutes(app, runs);
  addMessageRoutes(app, runs);
  addSearchRoute(app, runs);
  addTaskRoutes(app, runs);
  addTaskStepRoute(app, runs);
  addApprovalRoutes(app, runs);
  addArtifactRoutes(app, runs);
  addAttachmentRoute(app, runs);
  addDemoRoute(app, runs, startDemo);
}
