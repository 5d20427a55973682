import { defineStrings } from '../../i18n/define-strings.ts';

export const inboxStrings = defineStrings(
  {
    title: 'Inbox',
    waiting: (count: string) => (count === '1' ? '1 thing waits for you' : `${count} things wait for you`),
    nothing: 'Nothing waits for you.',
    nothingMore: 'All done. Nothing else waits for you.',
    emptyHint:
      'When I need a yes or a no before I act, or an answer to go on, it comes here, from every conversation and task. Tasks that wait cost nothing.',
    partOf: 'The newest 200 of each kind are shown. More come in as these are decided.',
    failed: 'The inbox could not be loaded.',
    openConversation: 'Open the conversation',
    openTask: 'Open the task',
    since: 'since',
    expiresSoon: (left: string) => `expires in ${left}`,
    expired: 'expired',
    answer: 'Your answer',
    sendAnswer: 'Answer',
    sending: 'Sending…',
    answerFailed: 'Not sent. Your text is kept.',
    keys: 'j and k move, a approves, r refuses',
  },
  {
    title: 'Bandeja de entrada',
    waiting: (count: string) => (count === '1' ? '1 cosa te espera' : `${count} cosas te esperan`),
    nothing: 'No hay nada a la espera de ti.',
    nothingMore: 'Listo. No te espera nada más.',
    emptyHint:
      'Cuando necesito un sí o un no antes de actuar, o una respuesta para seguir, llega aquí desde cualquier conversación o tarea. Una tarea que espera no cuesta nada.',
    partOf: 'Se ven las 200 más recientes de cada clase. Al decidirlas van llegando las demás.',
    failed: 'No se ha podido cargar la bandeja.',
    openConversation: 'Abrir la conversación',
    openTask: 'Abrir la tarea',
    since: 'desde',
    expiresSoon: (left: string) => `caduca en ${left}`,
    expired: 'caducada',
    answer: 'Tu respuesta',
    sendAnswer: 'Responder',
    sending: 'Enviando…',
    answerFailed: 'No se ha enviado. Tu texto sigue aquí.',
    keys: 'j y k mueven, a aprueba, r rechaza',
  },
);
