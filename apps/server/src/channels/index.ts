export { idParams, nothing, viewerOf, type Viewer, type WebApp } from './web/web-app.ts';
export type { StartDemo } from './web/demo-route.ts';
export { addWebRoutes } from './web/web-routes.ts';
