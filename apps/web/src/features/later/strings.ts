import { defineStrings } from '../../i18n/define-strings.ts';

/** What will be in the places that are not built yet. */
export const laterStrings = defineStrings(
  {
    notYet: 'Not here yet',
    places: {
      brain: { title: 'Brain', text: 'How I grow: mood, maturity, and what feeds them.' },
      maker: { title: 'Maker', text: 'One place to make an expert, a skill or a trigger.' },
      experts: { title: 'Experts', text: 'Specialists that you define, teach and share.' },
      channels: {
        title: 'Channels',
        text: 'Teams, WhatsApp and Slack, and the services that are connected.',
      },
      conscience: { title: 'Conscience', text: 'What I decided and why, with a way to undo it.' },
      triggers: { title: 'Triggers', text: 'What I learnt to do by itself, and what runs on a schedule.' },
      memory: { title: 'Memory', text: 'What I remember: to search, mend, export and delete.' },
      identity: { title: 'Identity', text: 'My persona, and how it has changed.' },
      live: { title: 'Live', text: 'Agents side by side as they work.' },
      integrations: { title: 'Integrations', text: 'OAuth connections, their health, and what used them.' },
      users: { title: 'People', text: 'Who may use this installation, and with which role.' },
      trust: { title: 'Trust', text: 'Scores by domain over time, and the outcomes behind each.' },
    },
  },
  {
    notYet: 'Todavía no está',
    places: {
      brain: { title: 'Cerebro', text: 'Cómo crezco: ánimo, madurez y de qué se alimentan.' },
      maker: { title: 'Taller', text: 'Un solo sitio para crear un experto, una habilidad o un disparador.' },
      experts: { title: 'Expertos', text: 'Especialistas que defines, enseñas y compartes.' },
      channels: { title: 'Canales', text: 'Teams, WhatsApp y Slack, y los servicios conectados.' },
      conscience: { title: 'Conciencia', text: 'Qué decidí y por qué, y cómo deshacerlo.' },
      triggers: { title: 'Disparadores', text: 'Lo que he aprendido a hacer por mi cuenta y lo programado.' },
      memory: { title: 'Memoria', text: 'Lo que recuerdo: para buscar, corregir, exportar y borrar.' },
      identity: { title: 'Identidad', text: 'Mi carácter y cómo ha cambiado.' },
      live: { title: 'En vivo', text: 'Los agentes, uno al lado del otro, mientras trabajan.' },
      integrations: { title: 'Integraciones', text: 'Conexiones OAuth, su estado y qué las ha usado.' },
      users: { title: 'Personas', text: 'Quién puede usar esta instalación y con qué papel.' },
      trust: {
        title: 'Confianza',
        text: 'Puntuaciones por dominio en el tiempo y los resultados detrás de cada una.',
      },
    },
  },
);

export type LaterPlace = keyof typeof laterStrings.en.places;
