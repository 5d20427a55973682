import { defineStrings } from '../../i18n/define-strings.ts';

export const auditStrings = defineStrings({ title: 'Audit trail' }, { title: 'Registro de auditoría' });
