export { readNumberCursor, toPage, writeNumberCursor } from './web/page-cursor.ts';
export { changedFields, type AuditedAct, type AuditedCall, type RouteAudit } from './web/route-audit.ts';
export { idParams, nothing, viewerOf, type Viewer, type WebApp } from './web/web-app.ts';
export type { StartDemo } from './web/demo-route.ts';
export { addWebRoutes } from './web/web-routes.ts';
