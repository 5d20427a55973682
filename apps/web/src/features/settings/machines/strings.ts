import { defineStrings } from '../../../i18n/define-strings.ts';

export const machinesStrings = defineStrings(
  {
    network: 'Network',
    networkText:
      'What my machines may reach. Everything else is refused: other hosts, this computer, your private network.',
    registries: 'Package registries (Debian, npm, PyPI)',
    hosts: 'Further hosts',
    hostsHelp: 'One a line, like api.example.com, or *.example.com for every name below it.',
    badHost: (line: string) => `"${line}" is not a host name like api.example.com or *.example.com.`,
    degrade: 'When no machine can be had',
    degradeText:
      'Commands may run in the process sandbox instead: separated from this computer, without a network, with less memory and time.',
    degradeField: 'Then',
    policies: {
      none: 'As this installation is set up',
      allow: 'Use the process sandbox, and say so',
      ask: 'Ask me first',
      never: 'Run no commands',
    },
    degradeHelp: 'The stricter of your choice and that of the installation counts.',
  },
  {
    network: 'Red',
    networkText:
      'A qué pueden llegar mis máquinas. Todo lo demás se rechaza: otros servidores, este ordenador y tu red privada.',
    registries: 'Registros de paquetes (Debian, npm, PyPI)',
    hosts: 'Otros servidores',
    hostsHelp:
      'Uno por línea, como api.example.com, o *.example.com para todos los nombres que cuelgan de él.',
    badHost: (line: string) => `«${line}» no es un nombre de servidor como api.example.com o *.example.com.`,
    degrade: 'Cuando no haya ninguna máquina',
    degradeText:
      'Los comandos pueden ejecutarse en el sandbox de procesos: separados de este ordenador, sin red y con menos memoria y tiempo.',
    degradeField: 'Entonces',
    policies: {
      none: 'Lo que diga la instalación',
      allow: 'Usar el sandbox de procesos y decirlo',
      ask: 'Preguntarme antes',
      never: 'No ejecutar comandos',
    },
    degradeHelp: 'Vale lo más estricto entre tu elección y la de la instalación.',
  },
);
