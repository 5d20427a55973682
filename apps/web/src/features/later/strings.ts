import { defineStrings } from '../../i18n/define-strings.ts';

/** What will be in the places that are not built yet. */
export const laterStrings = defineStrings(
  {
    notYet: 'Not here yet',
    what: 'What will be here',
    untilThen: 'Until then',
    today: {
      chat: 'Ask me in a conversation',
      agents: 'See who is at work',
      audit: 'Look at the audit trail',
      settings: 'Open the settings',
      inbox: 'See what waits for you',
    },
    places: {
      brain: {
        title: 'Brain',
        question: 'How is Vitto doing, and what is it growing on?',
        will: ['My mood and maturity, live', 'What feeds each of them: corrections, outcomes, memories'],
      },
      maker: {
        title: 'Maker',
        question: 'How do I teach Vitto something new?',
        will: ['One place to make an expert, a skill or a trigger', 'A quick test before it is used'],
      },
      experts: {
        title: 'Experts',
        question: 'Who is good at what?',
        will: [
          'Specialists that you define, or make by talking',
          'Teach one by correcting it, and test it at once',
          'A marketplace to share them',
        ],
      },
      channels: {
        title: 'Channels',
        question: 'Where else can I talk to Vitto?',
        will: [
          'Teams, WhatsApp and Slack, set up step by step',
          'Services that are connected, and their state',
        ],
      },
      conscience: {
        title: 'Conscience',
        question: 'What did Vitto decide by itself, and why?',
        will: [
          'Each decision on a timeline, with its reason',
          'Changes of trust and of persona',
          'A way to undo',
        ],
      },
      triggers: {
        title: 'Triggers',
        question: 'What does Vitto start without being asked?',
        will: [
          'What I learnt to do by itself, and how sure I am',
          'What runs on a schedule, and when next',
          'How often each was right',
        ],
      },
      memory: {
        title: 'Memory',
        question: 'What does Vitto remember about me and my work?',
        will: ['Search and mend what I remember', 'Set a memory aside, export or delete it'],
      },
      identity: {
        title: 'Identity',
        question: 'Who is Vitto to me?',
        will: ['My persona, to adjust', 'How it has changed, and what changed it'],
      },
      integrations: {
        title: 'Integrations',
        question: 'Which services does Vitto hold a key to?',
        will: ['Connections by provider and state', 'The health of their tokens, and what used them'],
      },
      users: {
        title: 'People',
        question: 'Who may use this installation?',
        will: ['People and their roles', 'Tokens, and when each was used'],
      },
      trust: {
        title: 'Trust',
        question: 'How far may Vitto go by itself, and did it earn that?',
        will: ['Scores by domain over time, with their levels', 'The outcomes and corrections behind each'],
      },
    },
  },
  {
    notYet: 'Todavía no está',
    what: 'Qué habrá aquí',
    untilThen: 'Mientras tanto',
    today: {
      chat: 'Pregúntame en una conversación',
      agents: 'Mira quién está trabajando',
      audit: 'Consulta el registro de auditoría',
      settings: 'Abre los ajustes',
      inbox: 'Mira qué te espera',
    },
    places: {
      brain: {
        title: 'Cerebro',
        question: '¿Cómo está Vitto y de qué va creciendo?',
        will: [
          'Mi ánimo y mi madurez, en directo',
          'De qué se alimentan: correcciones, resultados, recuerdos',
        ],
      },
      maker: {
        title: 'Taller',
        question: '¿Cómo le enseño algo nuevo a Vitto?',
        will: [
          'Un solo sitio para crear un experto, una habilidad o un disparador',
          'Una prueba rápida antes de usarlo',
        ],
      },
      experts: {
        title: 'Expertos',
        question: '¿Quién sabe de qué?',
        will: [
          'Especialistas que defines tú, o que creas hablando',
          'Enseñarles corrigiéndolos, y probarlos al momento',
          'Un mercado para compartirlos',
        ],
      },
      channels: {
        title: 'Canales',
        question: '¿Dónde más puedo hablar con Vitto?',
        will: ['Teams, WhatsApp y Slack, paso a paso', 'Los servicios conectados y cómo están'],
      },
      conscience: {
        title: 'Conciencia',
        question: '¿Qué decidió Vitto por su cuenta, y por qué?',
        will: [
          'Cada decisión en una línea de tiempo, con su motivo',
          'Los cambios de confianza y de carácter',
          'Cómo deshacerlo',
        ],
      },
      triggers: {
        title: 'Disparadores',
        question: '¿Qué empieza Vitto sin que se lo pidan?',
        will: [
          'Lo que he aprendido a hacer solo, y con qué seguridad',
          'Lo programado, y cuándo toca',
          'Cuántas veces acertó cada uno',
        ],
      },
      memory: {
        title: 'Memoria',
        question: '¿Qué recuerda Vitto de mí y de mi trabajo?',
        will: ['Buscar y corregir lo que recuerdo', 'Apartar un recuerdo, exportarlo o borrarlo'],
      },
      identity: {
        title: 'Identidad',
        question: '¿Quién es Vitto para mí?',
        will: ['Mi carácter, a tu gusto', 'Cómo ha cambiado, y por qué'],
      },
      integrations: {
        title: 'Integraciones',
        question: '¿De qué servicios tiene llave Vitto?',
        will: ['Las conexiones por proveedor y estado', 'La salud de sus tokens, y qué los ha usado'],
      },
      users: {
        title: 'Personas',
        question: '¿Quién puede usar esta instalación?',
        will: ['Las personas y sus papeles', 'Los tokens, y cuándo se usó cada uno'],
      },
      trust: {
        title: 'Confianza',
        question: '¿Hasta dónde puede llegar Vitto solo, y se lo ha ganado?',
        will: [
          'Puntuaciones por dominio en el tiempo, con sus niveles',
          'Los resultados y correcciones detrás de cada una',
        ],
      },
    },
  },
);

export type LaterPlace = keyof typeof laterStrings.en.places;

/** What serves until then. */
export const TODAY: Record<LaterPlace, { name: keyof typeof laterStrings.en.today; to: string }> = {
  brain: { name: 'chat', to: '/vitto' },
  maker: { name: 'settings', to: '/vitto/settings' },
  experts: { name: 'agents', to: '/operations/agents' },
  channels: { name: 'chat', to: '/vitto' },
  conscience: { name: 'audit', to: '/command/audit' },
  triggers: { name: 'inbox', to: '/vitto/inbox' },
  memory: { name: 'chat', to: '/vitto' },
  identity: { name: 'chat', to: '/vitto' },
  integrations: { name: 'settings', to: '/vitto/settings' },
  users: { name: 'settings', to: '/vitto/settings' },
  trust: { name: 'inbox', to: '/vitto/inbox' },
};
