import { defineStrings } from '../../i18n/define-strings.ts';

export const agentsStrings = defineStrings({ title: 'Agents at work' }, { title: 'Agentes en marcha' });
