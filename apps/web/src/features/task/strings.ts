import { defineStrings } from '../../i18n/define-strings.ts';

export const taskStrings = defineStrings({ title: 'Task' }, { title: 'Tarea' });
