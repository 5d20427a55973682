export { idParams, nothing, viewerOf, type Viewer, type WebApp } from './web/web-app.ts';
export { addWebRoutes } from './web/web-routes.ts';
