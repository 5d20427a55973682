export { readAudit, readAuditActions, type AuditFilter, type AuditRecord } from './read-audit.store.ts';
export { recordAudit, type AuditAct } from './record-audit.store.ts';
export { verifyAudit } from './verify-audit.ts';
