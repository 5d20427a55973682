import { defineStrings } from '../../i18n/define-strings.ts';

export const systemStrings = defineStrings({ title: 'System' }, { title: 'Sistema' });
