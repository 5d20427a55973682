import { defineStrings } from '../../i18n/define-strings.ts';

export const noticeStrings = defineStrings(
  {
    approval: 'I need your approval',
    question: 'I have a question',
    done: 'Done',
    undone: 'Ended without reaching its goal',
    failed: 'The task failed',
    whistle: 'For your attention',
  },
  {
    approval: 'Necesito tu aprobación',
    question: 'Tengo una pregunta',
    done: 'Hecho',
    undone: 'Terminó sin llegar a su objetivo',
    failed: 'La tarea ha fallado',
    whistle: 'Para que lo veas',
  },
);
