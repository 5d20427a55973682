import { defineStrings } from '../../../i18n/define-strings.ts';

export const generalStrings = defineStrings(
  {
    looks: 'Words and looks',
    language: 'Language',
    languageHelp: 'Of these pages, and the one I answer in unless you write in another.',
    theme: 'Theme',
    themeHelp: 'On this browser.',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    zone: 'Time zone',
    zoneText: 'Days begin and end by it: daily caps, costs, and later quiet hours.',
    zoneField: 'Time zone',
    zoneHelp: (clock: string) => `There it is ${clock} now.`,
    zoneBad: 'Choose one of the list, for example Europe/Madrid.',
    zoneHere: (zone: string) => `Use that of this browser: ${zone}`,
    folders: 'Folders that I may read everywhere',
    foldersText:
      'In every conversation, not only in one. I never write in them: I work on a copy and hand you a patch.',
    foldersEmpty: 'None. You can allow folders in one conversation, below its message field.',
    foldersAdd: 'Add a folder',
    foldersFailed: 'The folders have not changed.',
    foldersDone: 'Done',
    foldersNotYours: 'The owner of this installation or an admin allows folders.',
  },
  {
    looks: 'Palabras y aspecto',
    language: 'Idioma',
    languageHelp: 'El de estas páginas, y el que uso al responder si no me escribes en otro.',
    theme: 'Tema',
    themeHelp: 'En este navegador.',
    themes: { system: 'El del sistema', light: 'Claro', dark: 'Oscuro' },
    zone: 'Zona horaria',
    zoneText:
      'Con ella empiezan y acaban los días: los topes diarios, los costes y, más adelante, el silencio.',
    zoneField: 'Zona horaria',
    zoneHelp: (clock: string) => `Allí son ahora las ${clock}.`,
    zoneBad: 'Elige una de la lista, por ejemplo Europe/Madrid.',
    zoneHere: (zone: string) => `Usar la de este navegador: ${zone}`,
    folders: 'Carpetas que puedo leer siempre',
    foldersText:
      'En todas las conversaciones, no solo en una. Nunca escribo en ellas: trabajo en una copia y te doy un parche.',
    foldersEmpty: 'Ninguna. Puedes permitir carpetas en una conversación, debajo de donde escribes.',
    foldersAdd: 'Añadir una carpeta',
    foldersFailed: 'Las carpetas no han cambiado.',
    foldersDone: 'Listo',
    foldersNotYours: 'Las carpetas las permite el dueño de esta instalación o un administrador.',
  },
);
