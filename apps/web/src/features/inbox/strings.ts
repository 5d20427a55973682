import { defineStrings } from '../../i18n/define-strings.ts';

export const inboxStrings = defineStrings({ title: 'Inbox' }, { title: 'Bandeja de entrada' });
