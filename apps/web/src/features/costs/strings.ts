import { defineStrings } from '../../i18n/define-strings.ts';

export const costsStrings = defineStrings({ title: 'Costs' }, { title: 'Costes' });
