import { defineStrings } from '../../i18n/define-strings.ts';

export const settingsStrings = defineStrings({ title: 'Settings' }, { title: 'Ajustes' });
