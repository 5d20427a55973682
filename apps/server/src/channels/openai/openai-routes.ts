import type { DoorDependencies } from '../door-dependencies.ts';
import type { WebApp } from '../web/web-app.ts';
import { addChatRoute } from './chat-route.ts';
import { addModelRoutes } from './model-routes.ts';

/** The endpoint that clients of OpenAI can talk to: tasks in the shape of chat completions. */
export function addOpenAiRoutes(app: WebApp, deps: DoorDependencies): void {
  addModelRoutes(app, deps);
  addChatRoute(app, deps);
}

export function isOpenAiPath(path: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(path);
}
