import { defineStrings } from '../../i18n/define-strings.ts';

export const verdictStrings = defineStrings(
  {
    group: 'Your word on this task',
    right: 'This was right',
    wrong: 'This was not right',
    counts: { right: 'Counts as right', wrong: 'Counts as not right' },
    source: { self: 'it says so itself', check: 'a check says so', user: 'your word' },
    stopped: 'it was stopped before its end',
    failed: 'Your word was not kept.',
  },
  {
    group: 'Tu palabra sobre esta tarea',
    right: 'Estuvo bien',
    wrong: 'No estuvo bien',
    counts: { right: 'Cuenta como bien hecha', wrong: 'Cuenta como mal hecha' },
    source: { self: 'lo dice ella misma', check: 'lo dice una comprobación', user: 'lo dices tú' },
    stopped: 'se detuvo antes de acabar',
    failed: 'No se ha guardado tu palabra.',
  },
);
